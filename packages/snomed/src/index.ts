export {
  snomedBuilder,
  type BuiltSnomed,
  type SnomedBuilder,
  builtConcepts,
  CONCEPT_PART,
  OTHER_PARTS,
  systemOf,
  type BuiltConcepts,
  type BuiltPart,
  type ConceptPart,
  type PartBuilder,
  type Rf2Kind,
  type SnomedPart,
  type TakeRow,
} from './build/snomed-parts.js'
export type { Section } from './build/column.js'
export { snomedVersion, type SnomedVersion, isSctid, SNOMED, withCheckDigit } from './sctid.js'
export type { RefsetHeader, SnomedHeader } from './release/section-reader.js'
export type { IdTable } from './release/id-table.js'
export { snomed } from './snomed.js'
