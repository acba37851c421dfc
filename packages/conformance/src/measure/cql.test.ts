import { cqlLanguage } from '@fhir-ops/cql'
import { OPERATIONS } from '@fhir-ops/handler'
import { evaluateMeasureOperation } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { it } from 'vitest'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite } from '../../../../test/suites.js'
import { measureSuite } from './measure-suite.js'

const operations = OPERATIONS.map((operation) =>
  operation.name === '$evaluate-measure' ? evaluateMeasureOperation({ languages: [cqlLanguage()] }) : operation,
)

describeSuite('measure-tests', 'measure-tests with published ELM', () => {
  it.each(['cqm-ig', 'blaze', 'clinical-reasoning', 'ecqm', 'fqm-execution'])('%s passes as listed', async (suite) =>
    comparePassing(`measure-${suite}`, await measureSuite(async () => memoryStorage(), { suite, operations })),
  )
})
