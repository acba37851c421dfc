export { RF2_KINDS, snomedBuilder, type BuiltSnomed, type Rf2Kind, type SnomedBuilder } from './build/snomed-builder.js'
export type { Section } from './build/section.js'
export { snomedVersion, type SnomedVersion } from './edition.js'
export { isSctid, SNOMED, withCheckDigit } from './sctid.js'
