export { packLayer, packOf, type PackOptions, type PackReader } from './pack-layer.js'
export { storageLayer } from './layers.js'
export type { ContentLayer, Definition, DefinitionKey } from './layer.js'
export type { ContentView } from './view.js'
