import type { OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { explanationExtension } from '../explain/index.js'
import { isObject, stringAt, type JsonObject } from '../json/index.js'
import { TERMINOLOGY_NEEDS, type Operation, type OperationRequest } from '../operation/index.js'
import type { Parameter, ParameterReader } from '../parameters/index.js'
import { readTerminologyCall } from '../terminology/index.js'
import { closure, type ClosureInput, type ClosureResult } from './closure.js'
import type { ClosureConcept } from './closure-state.js'

const MAX_NAME = 256

/** `$closure` as the handler mounts it. */
export const closureOperation: Operation = {
  name: '$closure',
  types: [],
  levels: ['system'],
  methods: ['POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ConceptMap-closure',
  needs: { ...TERMINOLOGY_NEEDS, keepsState: true },
  async run(base, request) {
    const { ctx, input } = await readTerminologyCall(base, request, readInput)
    return { status: 200, resource: writeClosureResult(await closure(ctx, input), ctx.now()) }
  },
}

/** @throws {OperationError} `parameter-required` without name; `parameter-too-long`; `parameter-value` for a concept without system or code. */
function readInput(_: OperationContext, __: OperationRequest, reader: ParameterReader): ClosureInput {
  const name = reader.text('name')
  if (name === undefined) throw new OperationError('parameter-required', 'Parameter name is missing: it names the closure table.')
  if (name.length > MAX_NAME) throw new OperationError('parameter-too-long', `The name must have at most ${MAX_NAME} characters.`)
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

/** Each code below another one is an element, and the other its target, which subsumes it. */
function writeClosureResult({ name, version, entries, explanation }: ClosureResult, now: Date): JsonObject {
  const group = Array.from(
    Map.groupBy(entries, ({ system }) => system),
    ([system, rows]) => ({
      source: system,
      target: system,
      element: Array.from(
        Map.groupBy(rows, ({ code }) => code),
        ([code, targets]) => ({
          code,
          target: targets.map(({ target }) => ({ code: target, equivalence: 'subsumes' })),
        }),
      ),
    }),
  )
  const told = explanationExtension(explanation)
  return {
    resourceType: 'ConceptMap',
    ...(told.length > 0 && { extension: told }),
    version,
    name: `Closure table ${name}`,
    status: 'active',
    experimental: true,
    date: now.toISOString(),
    ...(group.length > 0 && { group }),
  }
}
