export { measureOf, type UnitMeasure } from './measure.js'
export { convertUnit } from './convert-unit.js'
