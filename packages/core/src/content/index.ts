export {
  type Canonical,
  type ContentLayer,
  type Definition,
  type DefinitionKey,
  type Kept,
  type RequestDefinitions,
  type Revised,
  canonicalOf,
  definitionEntries,
  definitionKeys,
  definitionOf,
  definitionParam,
  formatCanonical,
  headOf,
  keptWhile,
  requestLayer,
  storageLayer,
  withoutVersion,
} from './layers.js'
export { packLayer, packOf, type PackOptions, type PackReader } from './pack-layer.js'
export { compareVersions, contentView, highestOf, newestOf, resolveCanonical, type ContentView } from './view.js'
