export {
  extensionAt,
  isBuffer,
  isBytes,
  isDate,
  isListOf,
  isMap,
  isNestedDeeper,
  isObject,
  isString,
  objectAt,
  objectsAt,
  stringAt,
  type JsonObject,
  frozenJson,
  ownCopy,
  shownJson,
} from './narrow.js'
export { readableJsonType } from './media-type.js'
export {
  jsonItems,
  jsonMembers,
  selectMembers,
  stringValue,
  valuesByName,
  type JsonMember,
  type MemberChoice,
  type MemberChooser,
} from './members.js'
export { parseInPieces } from './parse.js'
export { firstProblem, placeIn, readJsonSource, type JsonSource, type JsonSourceOptions, type TextPlace } from './source.js'
export { compact, measureJson } from './scan.js'
export { readStrictJson, readStrictValue, type StrictJsonOptions } from './strict.js'
export { writeInPieces } from './write.js'
export type { JsonProblem, JsonProblemKind } from './source-tokens.js'
