import { OperationError } from '../errors/index.js'
import type { OperationContext } from '../context/index.js'
import { stringAt } from '../json/index.js'
import { storedInstance, type OperationRequest, type OperationResponse } from '../operation/index.js'
import type { ParameterReader } from '../parameters/index.js'
import { readTerminologyCall, readVersionRules } from '../terminology/index.js'
import { answerSubsumes, onlyOne, toParameters, type LooseSubsumesInput } from './subsumes.js'

/** Runs `$subsumes`. @throws {OperationError} as `readInput` and `answerSubsumes`. */
export async function runSubsumes(base: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { ctx, input } = await readTerminologyCall(base, request, readInput)
  return { status: 200, resource: { ...toParameters(await answerSubsumes(ctx, input)) } }
}

/**
 * @throws {OperationError} `parameter-invalid` for a system or version that differs from those of the instance, and for a `codeSystem` together with an
 *   id; `not-found` for an unknown id.
 */
async function readInput(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<LooseSubsumesInput> {
  const stored = (await storedInstance(ctx, request))?.resource
  const codeSystem = reader.resource('codeSystem')
  if (stored !== undefined && codeSystem !== undefined) {
    throw new OperationError('parameter-invalid', 'Another code system cannot be given where the path names one.', {
      expression: [reader.expressionOf('codeSystem')],
    })
  }
  return {
    codeSystem,
    system: onlyOne('system', [reader.text('system'), stringAt(stored, 'url')]),
    version: onlyOne('version', [reader.text('version'), stringAt(stored, 'version')]),
    codeA: reader.text('codeA'),
    codeB: reader.text('codeB'),
    codingA: reader.object('Coding', 'codingA'),
    codingB: reader.object('Coding', 'codingB'),
    rules: readVersionRules(reader),
    explain: reader.boolean('_explain'),
  }
}
