import type { OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { isObject, stringAt } from '../json/index.js'
import type { OperationRequest, OperationResponse } from '../operation/index.js'
import type { Parameter, ParameterReader } from '../parameters/index.js'
import { readTerminologyCall } from '../terminology/index.js'
import { closure, toConceptMap, type ClosureInput } from './closure.js'
import type { ClosureConcept } from './closure-state.js'

/** Runs `$closure`. @throws {OperationError} as `readInput` and `closure`. */
export async function runClosure(base: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { ctx, input } = await readTerminologyCall(base, request, readInput)
  return { status: 200, resource: { ...toConceptMap(await closure(ctx, input)) } }
}

/** @throws {OperationError} `parameter-required` without name; `parameter-value` for a concept without system or code. */
function readInput(_: OperationContext, __: OperationRequest, reader: ParameterReader): ClosureInput {
  const name = reader.text('name')
  if (name === undefined)
    throw new OperationError('parameter-required', 'Parameter name is missing: it names the closure table.', { expression: ['name'] })
  return { name, concepts: reader.all('concept').map(readConcept), since: reader.text('version'), explain: reader.boolean('_explain') }
}

function readConcept({ value, expression }: Parameter): ClosureConcept {
  const coding = isObject(value) ? value : undefined
  const [system, code] = [stringAt(coding, 'system'), stringAt(coding, 'code')]
  if (system === undefined || code === undefined) {
    throw new OperationError('parameter-value', 'A concept must be a Coding with system and code.', { expression: [expression] })
  }
  return { system, code, version: stringAt(coding, 'version') }
}
