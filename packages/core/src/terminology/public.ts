export { createBindingChecker } from './binding.js'
export { terminologyCapabilities } from './capabilities.js'
export type { CodeSystem, ComputedSystem, ImportedSystem, CodeSystemProvider, ConceptSet, Filter } from '../code-system/index.js'
export { type Bitmap, and, andNot, or, members, bitmapFrom } from '../bits/bitmap.js'
