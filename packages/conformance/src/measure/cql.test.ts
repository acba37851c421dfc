import { cqlLanguage } from '@fhir-ops/cql'
import { OPERATIONS } from '@fhir-ops/handler'
import { evaluateMeasureOperation } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { it } from 'vitest'
import { representative } from '../../../../test/effort.js'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite } from '../../../../test/suites.js'
import { measureSuite } from './measure-suite.js'

const operations = OPERATIONS.map((operation) =>
  operation.name === '$evaluate-measure' ? evaluateMeasureOperation({ languages: [cqlLanguage()] }) : operation,
)

/** The quickest first, which is the one of `npm test`. */
const SUITES = ['fqm-execution', 'cqm-ig', 'blaze', 'clinical-reasoning', 'ecqm']

describeSuite('measure-tests', 'measure-tests with published ELM', () => {
  it.each(representative(SUITES, { every: SUITES.length }))('%s passes as listed', async (suite) =>
    comparePassing(`measure-${suite}`, await measureSuite(async () => memoryStorage(), { suite, operations })),
  )
})
