import { closureOperation } from 'fhir-ops/closure'
import { compareOperation } from 'fhir-ops/compare'
import { evaluateMeasureOperation } from 'fhir-ops/evaluate'
import { expandOperation } from 'fhir-ops/expand'
import { lookupOperation } from 'fhir-ops/lookup'
import type { Operation } from 'fhir-ops/operation'
import { subsumesOperation } from 'fhir-ops/subsumes'
import { translateOperation } from 'fhir-ops/translate'
import { validateOperation } from 'fhir-ops/validate'
import { batchValidateCodeOperation, codeSystemValidateCodeOperation, valueSetValidateCodeOperation } from 'fhir-ops/validate-code'

/** `$versions`: the FHIR releases that are spoken here. */
const versionsOperation: Operation = {
  name: '$versions',
  types: [],
  levels: ['system'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/CapabilityStatement-versions',
  needs: { text: 'a token', anyOf: [] },
  run: async () => ({
    status: 200,
    resource: {
      resourceType: 'Parameters',
      parameter: [
        { name: 'version', valueCode: '4.0' },
        { name: 'default', valueCode: '4.0' },
      ],
    },
  }),
}

/** Every operation of the library that is mounted by its descriptor alone. */
export const OPERATIONS: readonly Operation[] = [
  batchValidateCodeOperation,
  closureOperation,
  codeSystemValidateCodeOperation,
  compareOperation,
  evaluateMeasureOperation,
  expandOperation,
  lookupOperation,
  subsumesOperation,
  translateOperation,
  validateOperation,
  valueSetValidateCodeOperation,
  versionsOperation,
]
