export { convertUnit } from './convert-unit.js'
export type { UcumLibrary } from './ucum-library.js'
export { ucum } from './ucum-system.js'
export { ucumConversion } from './unit-conversion.js'
