export { packLayer, packOf } from './pack-layer.js'
export { storageLayer } from './layers.js'
export type { ContentLayer, Definition } from './layer.js'
export type { ContentView } from './view.js'
