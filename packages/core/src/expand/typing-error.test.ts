import { describe, expect, test } from 'vitest'
import { call, codeSystem, cs, valueSet, vs } from '../../test/terminology-content.js'
import { createContext } from '../context/index.js'
import { memoryStorage } from '../memory/index.js'
import { expand } from './index.js'
import { isOneErrorApart } from './text-filter.js'
import { expandOperation } from '../operations/index.js'

test.each([
  ['femur', 'femr', true],
  ['femr', 'femur', true],
  ['femur', 'fenur', true],
  ['femur', 'fmeur', true],
  ['femur', 'femru', true],
  ['femur', 'femur', false],
  ['femur', 'fmuer', false],
  ['femur', 'fem', false],
  ['ab', 'ba', true],
  ['', 'a', true],
  ['', '', false],
])('%j and %j are one typing error apart: %s', (a, b, expected) => {
  expect(isOneErrorApart(a, b)).toBe(expected)
})

const BONES = codeSystem('bones', [
  { code: '1', display: 'Fracture of femur' },
  { code: '2', display: 'Femur' },
  { code: '3', display: 'Fracture of ulna', designation: [{ language: 'de', value: 'Ellenbruch' }] },
  { code: '4', display: 'Female' },
  { code: '5', display: 'Fraction' },
  { code: '6', display: 'Frame 2024' },
])
const ALL = valueSet('bones', { include: [{ system: cs('bones') }] })
const LISTED = valueSet('listed', { include: [{ system: cs('bones'), concept: [{ code: '1', display: 'Broken thigh' }, { code: '2' }] }] })
const ctx = createContext({ storage: memoryStorage([BONES, ALL, LISTED].map((resource, i) => ({ ...resource, id: `r${i}` }))) })

async function found(filter: string, url = vs('bones')): Promise<readonly string[]> {
  const input = { url, filter, tolerateTypo: true }
  const whole = await expand(ctx, input)
  const pages = await Promise.all(Array.from({ length: 7 }, (_, offset) => expand(ctx, { ...input, offset, count: 1 })))
  expect(pages.flatMap(({ contains }) => contains)).toEqual(whole.contains)
  expect(pages.map(({ total }) => total)).toEqual(pages.map(() => whole.contains.length))
  return whole.contains.map(({ code }) => code)
}

describe('a filter with a typing error', () => {
  test.each([
    ['femr', ['2', '4', '1']],
    ['feemur', ['2', '1']],
    ['fmeur', ['2', '1']],
    ['frcature femur', ['1']],
    ['fracture femru', ['1']],
    ['fractr', ['5', '3', '1']],
    ['femurs', ['2', '1']],
    ['elenbruch', ['3']],
  ])('%s finds what is near', async (filter, codes) => {
    expect(await found(filter)).toEqual(codes)
  })

  test.each([
    ['that has matches as it is', 'fem', ['2', '4', '1']],
    ['with two errors', 'frcature femru', []],
    ['in its first letter', 'demur', []],
    ['in a short word', 'fmu', []],
    ['in a number', '2025', []],
  ])('%s is taken as it is', async (_, filter, codes) => {
    expect(await found(filter)).toEqual(codes)
  })

  test('is looked for in a value set that lists codes, and ordered by its displays', async () => {
    expect(await found('femor', vs('listed'))).toEqual(['2', '1'])
  })

  test('is tolerated only when that is asked for', async () => {
    expect((await expand(ctx, { url: vs('bones'), filter: 'femr' })).total).toBe(0)
    const asked = [
      { name: 'url', valueUri: vs('bones') },
      { name: 'filter', valueString: 'femr' },
    ]
    const answer = await call(expandOperation, ctx, [...asked, { name: '_tolerateTypo', valueBoolean: true }])
    expect(answer).toMatchObject({ expansion: { total: 3, contains: [{ code: '2' }, { code: '4' }, { code: '1' }] } })
    expect(await call(expandOperation, ctx, asked)).toMatchObject({ expansion: { total: 0 } })
  })
})
