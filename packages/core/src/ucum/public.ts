export { convertUnit, ucumConversion } from './unit-conversion.js'
export type { UcumLibrary } from './ucum-library.js'
export { ucum } from './ucum-system.js'
