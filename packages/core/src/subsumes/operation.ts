import { forRequest, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { explanationParameter } from '../explain/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import type { Operation, OperationRequest } from '../operation/index.js'
import { parameterReader, type ParameterReader } from '../parameters/index.js'
import { ignoreUnknown, readTxResources, readVersionRules } from '../terminology/index.js'
import { subsumes, type SubsumesInput } from './subsumes.js'

/** `CodeSystem/$subsumes` as the handler mounts it. */
export const subsumesOperation: Operation = {
  name: '$subsumes',
  types: ['CodeSystem'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-subsumes',
  async run(base, request) {
    const reader = parameterReader(request.parameters)
    const ctx = forRequest(base, { resources: readTxResources(reader) })
    const input = await readInput(ctx, request, reader)
    const explain = reader.boolean('_explain') === true
    ignoreUnknown(request, reader)
    const { outcome, explanation } = explain ? await subsumes(ctx, { ...input, explain }) : { outcome: await subsumes(ctx, input) }
    const parameter = [{ name: 'outcome', valueCode: outcome }, ...explanationParameter(explanation)]
    return { status: 200, resource: { resourceType: 'Parameters', parameter } }
  },
}

/**
 * @throws {OperationError} `parameter-required` when a code or the system is missing; `parameter-invalid` for codings of two systems;
 *   `not-found` for the id of no code system.
 */
async function readInput(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<SubsumesInput> {
  const [codingA, codingB] = [reader.object('codingA'), reader.object('codingB')]
  const [codeA, codeB] = [reader.text('codeA') ?? stringAt(codingA, 'code'), reader.text('codeB') ?? stringAt(codingB, 'code')]
  const stored = await storedSystem(ctx, request)
  const system = reader.text('system') ?? stringAt(stored, 'url') ?? stringAt(codingA, 'system')
  if (codeA === undefined || codeB === undefined || system === undefined) {
    throw new OperationError(
      'parameter-required',
      'Two codes and their system must be given: codeA, codeB and system, or codingA and codingB.',
    )
  }
  refuseOtherSystem(system, [codingA, codingB])
  const version = reader.text('version') ?? stringAt(stored, 'version') ?? stringAt(codingA, 'version')
  return { system, version, codeA, codeB, rules: readVersionRules(reader) }
}

function refuseOtherSystem(system: string, codings: readonly (JsonObject | undefined)[]): void {
  const other = codings.map((coding) => stringAt(coding, 'system')).find((found) => found !== undefined && found !== system)
  if (other === undefined) return
  throw new OperationError('parameter-invalid', `Both codes must be of the code system ${quoted(system)}, not of ${quoted(other)}.`)
}

async function storedSystem(ctx: OperationContext, { id }: OperationRequest): Promise<JsonObject | undefined> {
  if (id === undefined) return undefined
  ctx.authorize?.('read', 'CodeSystem', id)
  const stored = await ctx.storage.read('CodeSystem', id)
  if (stored === undefined) throw new OperationError('not-found', `There is no CodeSystem with the id ${quoted(id)}.`)
  return stored.resource
}
