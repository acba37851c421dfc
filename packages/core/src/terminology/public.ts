export { createBindingChecker } from './binding.js'
export { terminologyCapabilities } from './capabilities.js'
export type { CodeSystem, ComputedSystem, ImportedSystem } from '../code-system/code-system.js'
export type {
  CodeGrammar,
  CodeSystemProvider,
  ConceptIndex,
  ConceptSet,
  ConceptSource,
  ConceptStatus,
  Filter,
  Hierarchy,
  SystemHeader,
} from '../code-system/provider.js'
export { type Bitmap, and, andNot, or, members, bitmapFrom, bitmapOf } from '../bits/bitmap.js'
export type { CodeableConceptInput, CodeInput, CodingInput } from '../input/code-input.js'
