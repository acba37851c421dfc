export { convertUnit, ucumConversion } from './unit-conversion.js'
export { measureOf, type UnitMeasure } from './measure.js'
export type { UcumLibrary } from './unit-reader.js'
export { ucum } from './ucum-system.js'
