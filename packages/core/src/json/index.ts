export { isObject, isString, objectAt, objectsAt, stringAt, type JsonObject } from './narrow.js'
