export { convertUnit, ucumConversion, measureOf, type UnitMeasure } from './unit-conversion.js'
export type { UcumLibrary } from './unit-reader.js'
export { ucum } from './ucum-system.js'
