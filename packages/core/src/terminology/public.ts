export { createBindingChecker, type BindingChecker, type BoundValue, type MemberTest } from './binding.js'
export { terminologyCapabilities, type CapabilitiesOptions } from './capabilities.js'
export type { CodeSystem, ComputedSystem, ImportedSystem, ImplicitType, OpenRelease } from '../code-system/code-system.js'
export type {
  CodeGrammar,
  CodeSystemProvider,
  ConceptIndex,
  ConceptSet,
  ConceptSource,
  ConceptStatus,
  ConceptText,
  DisplayOrder,
  Filter,
  FilterWord,
  Hierarchy,
  PlaceOrder,
  StandInValueSet,
  SystemHeader,
} from '../code-system/provider.js'
export { type Bitmap, and, andNot, or, members, bitmapFrom, bitmapOf } from '../bits/bitmap.js'
export type { CodeableConceptInput, CodeInput, CodeOrCoding, CodingInput, SystemAndCode, LooseCodeInput } from '../input/code-input.js'
