import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { ambiguousCode } from '../input/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import type { OperationRequest, OperationResponse } from '../operation/index.js'
import type { ParameterReader } from '../parameters/index.js'
import { readLanguages, readTerminologyCall, readVersionRules } from '../terminology/index.js'
import { lookup, type LookupInput, toParameters } from './lookup.js'

/** Runs `$lookup`. @throws {OperationError} as `readInput` and `lookup`. */
export async function runLookup(base: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { ctx, input } = await readTerminologyCall(base, request, readInput)
  return { status: 200, resource: { ...toParameters(await lookup(ctx, input)) } }
}

/** @throws {OperationError} `parameter-required` without code and system; `source-ambiguous` for code and coding together. */
function readInput(_: OperationContext, request: OperationRequest, reader: ParameterReader): LookupInput {
  reader.refuse('date')
  const coding = reader.object('Coding', 'coding')
  const plain = reader.text('code')
  if (coding !== undefined && plain !== undefined) throw ambiguousCode(['code', 'coding'])
  const code = plain ?? stringAt(coding, 'code')
  const codeSystem = reader.resource('codeSystem')
  const system = agreed(reader, coding, 'system') ?? stringAt(codeSystem, 'url')
  if (code === undefined || system === undefined) {
    throw new OperationError('parameter-required', 'The concept must be named by code and system, or by coding.', { expression: ['code'] })
  }
  return {
    system,
    code,
    version: agreed(reader, coding, 'version'),
    codeSystem,
    properties: reader.texts('property'),
    useSupplement: reader.texts('useSupplement'),
    ...readLanguages(reader, request),
    rules: readVersionRules(reader),
    explain: reader.boolean('_explain'),
  }
}

/** Reads a value that may be in the coding or in its own parameter. @throws {OperationError} `parameter-invalid` when both are given and differ. */
function agreed(reader: ParameterReader, coding: JsonObject | undefined, name: 'system' | 'version'): string | undefined {
  const [beside, within] = [reader.text(name), stringAt(coding, name)]
  if (beside === undefined || within === undefined || beside === within) return beside ?? within
  throw new OperationError(
    'parameter-invalid',
    `The ${name} of the coding is ${quoted(within)}, and the parameter '${name}' is ${quoted(beside)}.`,
    {
      expression: [reader.expressionOf(name)],
    },
  )
}
