export { isObject, isString, objectAt, objectsAt, stringAt, type JsonObject } from './narrow.js'
export { parseJsonSource, type JsonSource, type JsonSourceOptions } from './json-source.js'
export { placeIn, type TextPlace } from './text-place.js'
export type { JsonSlip, SlipKind } from './source-reader.js'
