export { packLayer, packOf } from './pack-layer.js'
export { type ContentLayer, type Definition, storageLayer } from './layers.js'
export type { ContentView } from './view.js'
