import { expect, it } from 'vitest'
import { toConceptMap } from './closure/index.js'
import { toParameters as compareParameters } from './compare/index.js'
import { toMeasureReport } from './evaluate/index.js'
import { toValueSet } from './expand/index.js'
import { toParameters as lookupParameters } from './lookup/index.js'
import { toParameters as subsumesParameters } from './subsumes/index.js'
import { toParameters as translateParameters } from './translate/index.js'
import { toParameters as validateCodeParameters } from './validate-code/index.js'
import { toOperationOutcome } from './validate/index.js'

const WRITERS: readonly (readonly [string, (result: never) => object])[] = [
  ['closure', toConceptMap],
  ['compare', compareParameters],
  ['evaluateMeasure', toMeasureReport],
  ['expand', toValueSet],
  ['lookup', lookupParameters],
  ['subsumes', subsumesParameters],
  ['translate', translateParameters],
  ['validateCode', validateCodeParameters],
  ['validate', toOperationOutcome],
]

it.each(WRITERS)('what writes the result of %s says what it was given in its place', (maker, write) => {
  const given = (value: unknown): unknown => Reflect.apply(write, undefined, [value])
  expect(() => given(undefined)).toThrow(`the result of ${maker} is missing.`)
  expect(() => given(Promise.resolve({}))).toThrow(`the result of ${maker} is a promise that was not awaited.`)
  expect(() => given({})).toThrow(`the result of ${maker} has no `)
})
