import type { OperationContext } from '../context/index.js'
import type { Operation, OperationRequest, OperationResponse } from '../operation/index.js'
import { readTerminologyCall } from '../terminology/index.js'
import { readCodeSystemInput, readValueSetInput } from './input.js'
import { validateInCodeSystem } from './validate-in-code-system.js'
import { validateInValueSet } from './validate-in-value-set.js'
import { writeValidation } from './output.js'

/** `ValueSet/$validate-code` as the handler mounts it. */
export const valueSetValidateCodeOperation: Operation = {
  name: '$validate-code',
  types: ['ValueSet'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-validate-code',
  run: runInValueSet,
}

/** `CodeSystem/$validate-code` as the handler mounts it. */
export const codeSystemValidateCodeOperation: Operation = {
  name: '$validate-code',
  types: ['CodeSystem'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-validate-code',
  async run(base, request) {
    const { ctx, input } = await readTerminologyCall(base, request, readCodeSystemInput)
    return { status: 200, resource: writeValidation(await validateInCodeSystem(ctx, input)) }
  },
}

/** Validates one code against a value set, as a request says. */
export async function runInValueSet(base: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { ctx, input } = await readTerminologyCall(base, request, readValueSetInput)
  return { status: 200, resource: writeValidation(await validateInValueSet(ctx, input)) }
}
