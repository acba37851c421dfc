import { expect, test } from 'vitest'
import { convertUnit, measureOf } from './index.js'

test.each([
  ['km', 'm', 1000],
  ['m', 'km', 0.001],
  ['[mi_i]', 'km', 1.609344],
  ['mg/dL', 'g/L', 0.01],
  ['mm[Hg]', 'kPa', 0.133322],
  ['kg/m2', 'g/cm2', 0.1],
  ['/min', 'Hz', 1 / 60],
  ['{beats}/min', '/min', 1],
  ['10*3/uL', '10*9/L', 1],
  ['mmol/L', 'umol/mL', 1],
  ['[lb_av]', 'kg', 0.45359237],
  ['wk', 'd', 7],
  ['dag', 'g', 10],
])('%s in %s is a factor of %d', (from, to, factor) => {
  expect(convertUnit(from, to)).toBeCloseTo(factor, 9)
})

test.each([
  ['kg', 'm'],
  ['mol/L', 'g/L'],
  ['Cel', 'K'],
  ['k[in_i]', 'm'],
  ['(m)', 'm'],
  ['constructor', 'm'],
])('%s is not converted to %s', (from, to) => {
  expect(convertUnit(from, to)).toBeUndefined()
})

test('units of one kind are told from units that are not understood', () => {
  expect(measureOf('kg')?.kind).not.toBe(measureOf('[mi_i]')?.kind)
  expect(measureOf('Cel')).toBeUndefined()
})
