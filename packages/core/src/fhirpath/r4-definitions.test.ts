import { expect, test } from 'vitest'
import { allConstraints, definitionsOf, r4Model } from '../../test/fhirpath/r4.js'
import { stringAt } from '../json/index.js'
import { OperationError } from '../errors/index.js'
import { compileFhirPath } from './index.js'

test('every published constraint compiles', () => {
  const constraints = allConstraints()
  expect(constraints.length).toBeGreaterThan(190)
  expect(constraints.flatMap(({ key, expression }) => fault(key, expression))).toEqual([])
})

test('every published search parameter compiles', () => {
  const parameters = definitionsOf('SearchParameter')
  expect(parameters.length).toBeGreaterThan(1_300)
  expect(parameters.flatMap((parameter) => fault(stringAt(parameter, 'id') ?? '', stringAt(parameter, 'expression') ?? '{}'))).toEqual([])
})

function fault(name: string, expression: string): string[] {
  try {
    compileFhirPath(expression, { model: r4Model })
    return []
  } catch (error) {
    if (error instanceof OperationError) return [`${name}: ${error.message}`]
    throw error
  }
}
