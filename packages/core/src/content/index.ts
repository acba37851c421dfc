export {
  canonicalOf,
  formatCanonical,
  withoutVersion,
  type Canonical,
  definitionEntries,
  definitionKeys,
  definitionOf,
  definitionParam,
  headOf,
} from './definition.js'
export {
  keptWhile,
  type Kept,
  type Revised,
  type RequestDefinitions,
  type ContentLayer,
  type Definition,
  type DefinitionKey,
} from './layer.js'
export { packLayer, packOf, type PackOptions, type PackReader } from './pack-layer.js'
export { requestLayer, storageLayer } from './layers.js'
export { compareVersions, contentView, highestOf, newestOf, resolveCanonical, type ContentView } from './view.js'
