import type { ExplainOption, OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { explanationParameter } from '../explain/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import { storedInstance, TERMINOLOGY_NEEDS, type Operation, type OperationRequest } from '../operation/index.js'
import type { ParameterReader } from '../parameters/index.js'
import { readTerminologyCall, readVersionRules } from '../terminology/index.js'
import { subsumes, type SubsumesInput } from './subsumes.js'

/** `CodeSystem/$subsumes` as the handler mounts it. */
export const subsumesOperation: Operation = {
  name: '$subsumes',
  types: ['CodeSystem'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-subsumes',
  needs: TERMINOLOGY_NEEDS,
  async run(base, request) {
    const { ctx, input } = await readTerminologyCall(base, request, readInput)
    const { explain, ...pair } = input
    const { outcome, explanation } = explain ? await subsumes(ctx, { ...pair, explain }) : { outcome: await subsumes(ctx, pair) }
    const parameter = [{ name: 'outcome', valueCode: outcome }, ...explanationParameter(explanation)]
    return { status: 200, resource: { resourceType: 'Parameters', parameter } }
  },
}

/**
 * @throws {OperationError} `parameter-required` when a code or the system is missing; `source-ambiguous` for a code beside its coding;
 *   `parameter-invalid` for two systems or two versions; `not-found` for the id of no code system.
 */
async function readInput(
  ctx: OperationContext,
  request: OperationRequest,
  reader: ParameterReader,
): Promise<SubsumesInput & ExplainOption> {
  const [a, b] = [readCode(reader, 'codeA', 'codingA'), readCode(reader, 'codeB', 'codingB')]
  const stored = (await storedInstance(ctx, request))?.resource
  const system = onlyOne('code system', [
    reader.text('system'),
    stringAt(stored, 'url'),
    stringAt(a.coding, 'system'),
    stringAt(b.coding, 'system'),
  ])
  const version = onlyOne('version', [reader.text('version'), ...[stored, a.coding, b.coding].map((one) => stringAt(one, 'version'))])
  if (a.code === undefined || b.code === undefined || system === undefined) {
    throw new OperationError(
      'parameter-required',
      'Two codes and their system must be given: codeA, codeB and system, or codingA and codingB.',
    )
  }
  return { system, version, codeA: a.code, codeB: b.code, rules: readVersionRules(reader), explain: reader.boolean('_explain') }
}

interface GivenCode {
  readonly code: string | undefined
  readonly coding: JsonObject | undefined
}

function readCode(reader: ParameterReader, codeName: string, codingName: string): GivenCode {
  const [code, coding] = [reader.text(codeName), reader.object('Coding', codingName)]
  if (code === undefined || coding === undefined) return { code: code ?? stringAt(coding, 'code'), coding }
  throw new OperationError('source-ambiguous', `Only one of ${codeName} and ${codingName} may be given.`, {
    expression: [codeName, codingName],
  })
}

/** Codes of different systems, or versions of one, cannot be compared. */
function onlyOne(name: string, stated: readonly (string | undefined)[]): string | undefined {
  const [first, other] = new Set(stated.flatMap((one) => one ?? []))
  if (first === undefined || other === undefined) return first
  throw new OperationError('parameter-invalid', `Both codes must be of one ${name}, not of ${quoted(first)} and ${quoted(other)}.`)
}
