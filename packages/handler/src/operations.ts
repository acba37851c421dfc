import { closureOperation } from 'fhir-ops/internal/closure'
import { compareOperation } from 'fhir-ops/internal/compare'
import { measureOperations } from 'fhir-ops/evaluate'
import { expandOperation } from 'fhir-ops/internal/expand'
import { lookupOperation } from 'fhir-ops/internal/lookup'
import type { Operation } from 'fhir-ops/operation'
import { snapshotOperation } from 'fhir-ops/internal/snapshot/operation'
import { subsumesOperation } from 'fhir-ops/internal/subsumes'
import { translateOperation } from 'fhir-ops/internal/translate'
import { validateOperation } from 'fhir-ops/internal/validate/operation'
import {
  codeSystemBatchValidateCodeOperation,
  codeSystemValidateCodeOperation,
  valueSetBatchValidateCodeOperation,
  valueSetValidateCodeOperation,
} from 'fhir-ops/internal/validate-code'

/** `$versions`: the FHIR releases that are spoken here. */
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

/** The operations of the library that need nothing but their descriptor. */
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
