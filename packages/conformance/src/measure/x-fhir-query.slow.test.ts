import { memoryStorage } from 'fhir-ops/memory'
import { it } from 'vitest'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite } from '../../../../test/suites.js'
import { measureSuite } from './measure-suite.js'

describeSuite('measure-tests', 'measure-tests, suite x-fhir-query', () => {
  it('passes as listed over memory', async () => comparePassing('measure-x-fhir-query', await measureSuite(async () => memoryStorage())))
})
