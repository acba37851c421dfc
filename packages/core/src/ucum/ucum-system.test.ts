import ucumLhc from '@lhncbc/ucum-lhc'
import { describe, expect, it, vi } from 'vitest'
import { createContext } from '../context/index.js'
import { expand } from '../expand/index.js'
import type { JsonObject } from '../json/index.js'
import { lookup } from '../lookup/index.js'
import { memoryStorage } from '../memory/index.js'
import { validateCodeInSystem, validateCode } from '../validate-code/index.js'
import { ucum, ucumConversion } from './index.js'

const UCUM = 'http://unitsofmeasure.org'
const library = ucumLhc.UcumLhcUtils.getInstance()
const common = {
  resourceType: 'ValueSet',
  id: 'common',
  url: 'http://hl7.org/fhir/ValueSet/ucum-common',
  status: 'draft',
  compose: { include: [{ system: UCUM, concept: [{ code: 'kg' }, { code: 'mg/dL' }, { code: 'mg' }, { code: 'nonsense' }] }] },
}
const ctx = createContext({ storage: memoryStorage([common]), codeSystems: [ucum(library)] })

const valueSet = (canonical?: string): JsonObject => ({
  resourceType: 'ValueSet',
  status: 'active',
  compose: {
    include: [{ system: UCUM, ...(canonical !== undefined && { filter: [{ property: 'canonical', op: '=', value: canonical }] }) }],
  },
})

describe('units of measure', () => {
  it.each([
    ['kg', '(kilogram)', 'g'],
    ['mg/dL', '(milligram) / (deciliter)', 'g.m-3'],
    ['mg/dL{milligram per deciliter}', '(milligram) / (deciliter) * 1', 'g.m-3'],
    ['{score}', '1', '1'],
    ['{beats}/min', '1 / (minute)', 's-1'],
    ['/min', '/ (minute)', 's-1'],
    ['10*3/uL', '(the number ten for arbitrary powers ^ 3) / (microliter)', 'm-3'],
    ['kg/(m2.s)', '(kilogram) / ((meter ^ 2) * (second - time))', 'g.m-2.s-1'],
    ['mm[Hg]', '(millimeter of mercury)', 'g.m-1.s-2'],
    ['%', '(%)', '1'],
    ['cd', '(candela)', 'cd'],
    ['ph', '(phot)', 'cd.m-2.rad2'],
    ['dag', '(dekagram)', 'g'],
    ['k[IU]', '(kilointernational unit - arbitrary)', undefined],
    ['[IU]/mL', '(international unit - arbitrary) / (milliliter)', undefined],
    ['[NTU]', '(Nephelometric Turbidity Unit)', '1'],
    ['([NTU])', '((Nephelometric Turbidity Unit))', '1'],
    ['m/({a})', '(meter) / (1)', 'm'],
    ['(10)', '(10)', '1'],
    ['[FNU]/mL', '(Formazin Nephelometric Unit) / (milliliter)', 'm-3'],
    ['10*3.Cel', '(the number ten for arbitrary powers ^ 3) * (degree Celsius)', 'K'],
  ])('%s is %s, in base units %s', async (code, name, canonical) => {
    const found = await lookup(ctx, { system: UCUM, code, properties: ['canonical'] })
    expect(found).toMatchObject({ code, display: code, version: '2.2' })
    expect(found.designations.map(({ value }) => value)).toContain(name)
    expect(found.properties.slice(1).map(({ value }) => value[1])).toEqual(canonical === undefined ? [] : [canonical])
  })

  it.each([
    ['mg', ['mg', 'MG', '(milligram)', 'milligram', 'Milligram']],
    ['mg/dL', ['(milligram) / (deciliter)', 'milligram per deciliter']],
    ['s', ['second', '(second - time)']],
    ['[IU]/mL', ['international unit per milliliter']],
  ])('%s has these displays: %j', async (code, displays) => {
    for (const display of displays)
      expect(await validateCodeInSystem(ctx, { system: UCUM, code, display }), display).toMatchObject({ result: true, issues: [] })
    expect(await validateCodeInSystem(ctx, { system: UCUM, code, display: 'mile' })).toMatchObject({ result: false })
  })

  it.each([
    ['kgXX', "The unit 'kgXX' is unknown at character 1"],
    ['mg/foot', "The unit 'foot' is unknown at character 4"],
    ['mg/', 'Its parts do not make a unit'],
    ['m//s', 'Its parts do not make a unit'],
    ['(m', 'Its parts do not make a unit'],
    ['m{a', 'A bracket or brace does not end'],
    ['{a}m', "After an annotation or a bracket, an operator was expected, but there is 'm' at character 4"],
    ['m{a}2', "After an annotation or a bracket, an operator was expected, but there is '2' at character 5"],
    ['kmin', "The unit 'kmin' has a prefix, which its unit does not take, at character 1"],
    ['mg/mwk', "The unit 'mwk' has a prefix, which its unit does not take, at character 4"],
    ['k[in_i]', "The unit 'k[in_i]' has a prefix, which its unit does not take, at character 1"],
    ['da', "The unit 'da' has a prefix, which its unit does not take, at character 1"],
    ['2mg', "The unit '2mg' is unknown at character 1"],
    ['m g', "The unit 'm g' is unknown at character 1"],
    ['m/constructor', "The unit 'constructor' is unknown at character 3"],
    ['toString', "The unit 'toString' is unknown at character 1"],
    ['__proto__', "The unit '__proto__' is unknown at character 1"],
    ['KG', "The unit 'KG' is unknown at character 1"],
    ['m{é}', "The annotation '{é}' is unknown at character 2"],
    ['(m){a}(s)', "After an annotation or a bracket, an operator was expected, but there is '(' at character 7"],
    ['(m)-1', "After an annotation or a bracket, an operator was expected, but there is '-1' at character 4"],
    ['m.()', "A unit was expected, but there is ')' at character 4"],
    ['({a})2', "After an annotation or a bracket, an operator was expected, but there is '2' at character 6"],
    ['k[NTU]', "The unit 'k[NTU]' is unknown at character 1"],
    ['Cel/m', "The unit 'Cel' is on a special scale, so it has no exponent and is not multiplied or divided by a unit (UCUM section 21)"],
    [
      'm/[pH]2',
      "The unit '[pH]' is on a special scale, so it has no exponent and is not multiplied or divided by a unit (UCUM section 21)",
    ],
    ['', 'It is empty'],
    ['('.repeat(300), 'It is longer than 250 characters'],
  ])('%j is none', async (code, reason) => {
    const written = vi.spyOn(console, 'log')
    const { result, issues } = await validateCodeInSystem(ctx, { system: UCUM, code })
    expect(result).toBe(false)
    expect(issues.map(({ text }) => text)).toContain(`Error processing unit '${code}': ${reason}`)
    expect(written).not.toHaveBeenCalled()
    written.mockRestore()
  })

  it.each([
    ['kg', 'g', true],
    ['mg{x}', 'kg', true],
    ['m', 'g', false],
    ['mg/dL', 'g/L', true],
    ['[IU]', 'g', false],
  ])('%s is among the units with the base units of %s: %s', async (code, canonical, result) => {
    expect((await validateCode(ctx, { valueSet: valueSet(canonical), system: UCUM, code })).result).toBe(result)
  })

  it.each([
    ['canonical', 'in', 'kg, m', 'mg', true],
    ['canonical', 'in', 'kg,m', 's', false],
    ['property', '=', 'mass', '[lb_av]', true],
    ['property', '=', 'mass', 'g/L', false],
    ['property', '=', 'length', 'km', true],
    ['property', '=', 'luminous intensity', 'kg', false],
  ])('the filter %s %s %s, asked for %s: %s', async (property, op, value, code, result) => {
    const filtered = { ...valueSet(), compose: { include: [{ system: UCUM, filter: [{ property, op, value }] }] } }
    expect((await validateCode(ctx, { valueSet: filtered, system: UCUM, code })).result).toBe(result)
  })

  it.each([
    ['property', '=', 'beauty'],
    ['property', 'in', 'mass,length'],
    ['canonical', 'in', 'kg,nonsense'],
  ])('refuses the filter %s %s %s', async (property, op, value) => {
    const filtered = { ...valueSet(), compose: { include: [{ system: UCUM, filter: [{ property, op, value }] }] } }
    await expect(expand(ctx, { valueSet: filtered })).rejects.toMatchObject({ code: 'not-supported' })
  })

  it.each([
    [`${UCUM}/vs`, 'mg/dL', true],
    [`${UCUM}/vs`, 'kgXX', false],
    [`${UCUM}/vs/m`, 'km', true],
    [`${UCUM}/vs/m`, 'kg', false],
    [`${UCUM}/vs/m/s`, 'km/h', true],
  ])('have the value set %s, asked for %s: %s', async (url, code, result) => {
    expect((await validateCode(ctx, { url, system: UCUM, code })).result).toBe(result)
  })

  it('have no value set of what is not a unit', async () => {
    expect((await expand(ctx, { url: `${UCUM}/vs/g` })).contains.map(({ code }) => code)).toEqual(['kg', 'mg'])
    for (const url of [`${UCUM}/vs/nonsense`, `${UCUM}/vs/`, `${UCUM}/vsg`]) {
      await expect(expand(ctx, { url })).rejects.toMatchObject({ code: 'not-found' })
    }
  })

  it('refuses to compare with what is not a unit', async () => {
    await expect(expand(ctx, { valueSet: valueSet('kgXX') })).rejects.toMatchObject({ code: 'not-supported' })
  })

  it('are read by the library once, however often they are asked about', async () => {
    const validateUnitString = vi.fn(library.validateUnitString.bind(library))
    const units = ucum({
      validateUnitString,
      getSpecifiedUnit: library.getSpecifiedUnit.bind(library),
      convertToBaseUnits: library.convertToBaseUnits.bind(library),
      convertUnitTo: library.convertUnitTo.bind(library),
    })
    const about = (code: string) => [units.find(code), units.whyNot?.(code)]
    const first = ['mg/dL', 'nonsense'].map(about)
    const calls = validateUnitString.mock.calls.length
    expect(['mg/dL', 'nonsense'].map(about)).toEqual(first)
    expect(validateUnitString).toHaveBeenCalledTimes(calls)
  })

  it('are listed as those in common use', async () => {
    const { contains, unclosed, total } = await expand(ctx, { valueSet: valueSet() })
    expect(contains.map(({ code }) => code)).toEqual(['kg', 'mg/dL', 'mg'])
    expect([total, unclosed]).toEqual([
      undefined,
      [`The code System '${UCUM}' has a grammar and so has infinite members. This extension is based on ${common.url}`],
    ])
    expect((await expand(ctx, { valueSet: valueSet('g') })).contains.map(({ code }) => code)).toEqual(['kg', 'mg'])
  })
})

describe('the conversion of units', () => {
  const convert = ucumConversion(library)

  it.each([
    ['mg/dL', 'g/L', 0.01],
    ['[lb_av]', 'kg', 0.45359237],
    ['m[H2O]', 'kPa', 9.80665],
    ['kg{dry}', 'g', 1000],
    ['10*3/uL', '10*9/L', 1],
  ])('multiplies %s to be in %s', (from, to, factor) => {
    expect(convert(from, to)).toBeCloseTo(factor, 9)
  })

  it.each([
    ['Cel', '[degF]'],
    ['kg', 'm'],
    ['[IU]', 'g'],
    ['kgXX', 'kg'],
    ['constructor', 'kg'],
  ])('has no factor from %s to %s', (from, to) => {
    expect(convert(from, to)).toBeUndefined()
  })
})
