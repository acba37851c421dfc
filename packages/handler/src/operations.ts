import {
  closureOperation,
  codeSystemBatchValidateCodeOperation,
  codeSystemValidateCodeOperation,
  compareOperation,
  expandOperation,
  lookupOperation,
  measureOperations,
  snapshotOperation,
  subsumesOperation,
  translateOperation,
  validateOperation,
  valueSetBatchValidateCodeOperation,
  valueSetValidateCodeOperation,
} from 'fhir-ops/internal/operations'
import type { Operation } from 'fhir-ops/operation'

/** `$versions`: the supported FHIR releases. */
const versionsOperation: Operation = {
  name: '$versions',
  types: [],
  levels: ['system'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/CapabilityStatement-versions',
  answers: 'Parameters',
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

/** Operations of the library that need only their descriptor. */
export const OPERATIONS: readonly Operation[] = [
  codeSystemBatchValidateCodeOperation,
  valueSetBatchValidateCodeOperation,
  closureOperation,
  codeSystemValidateCodeOperation,
  compareOperation,
  expandOperation,
  lookupOperation,
  ...measureOperations(),
  snapshotOperation,
  subsumesOperation,
  translateOperation,
  validateOperation,
  valueSetValidateCodeOperation,
  versionsOperation,
]
