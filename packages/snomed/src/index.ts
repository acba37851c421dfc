export { snomedBuilder, type BuiltSnomed, type SnomedBuilder } from './build/snomed-builder.js'
export {
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
export type { Section } from './build/section.js'
export { snomedVersion, type SnomedVersion } from './edition.js'
export type { SnomedHeader } from './release/header.js'
export { isSctid, SNOMED, withCheckDigit } from './sctid.js'
export { snomed } from './snomed.js'
