import { OperationError, outcomeOf } from '../errors/index.js'
import { createPace, forRequest, type OperationContext, type Pace } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import type { Operation, OperationRequest } from '../operation/index.js'
import { parametersOf, type Parameter } from '../parameters/index.js'
import { runInValueSet } from './operations.js'

const SLOT = 'validation'
/** The part of the time limit that is left for writing the answer. */
const WRITING = 0.1

/**
 * `ValueSet/$batch-validate-code`: many validations in one request. Each `validation` is a Parameters resource; parameters beside it hold
 * for all that do not give their own.
 *
 * @see https://build.fhir.org/ig/HL7/fhir-tx-ecosystem-ig/
 */
export const batchValidateCodeOperation: Operation = {
  name: '$batch-validate-code',
  types: ['ValueSet'],
  levels: ['type'],
  methods: ['POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-batch-validate-code',
  async run(base, request) {
    const ctx = withinTime(base)
    const pace = createPace(ctx)
    const shared = request.parameters.filter(({ name }) => name !== SLOT)
    const answers: JsonObject[] = []
    for (const { resource } of request.parameters.filter(({ name }) => name === SLOT)) {
      answers.push({ name: SLOT, resource: await oneAnswer(ctx, request, { shared, resource, pace }) })
    }
    return { status: 200, resource: { resourceType: 'Parameters', parameter: answers } }
  },
}

/** One time limit for all validations. */
function withinTime(base: OperationContext): OperationContext {
  const ctx = forRequest(base, {})
  return ctx.deadline === undefined ? ctx : { ...ctx, deadline: ctx.deadline - WRITING * ctx.limits.operationTimeoutMs }
}

interface OneValidation {
  readonly shared: readonly Parameter[]
  readonly resource: JsonObject | undefined
  readonly pace: Pace
}

/** What cannot be validated, or not in time, is answered in its place, so that the others stand. */
async function oneAnswer(ctx: OperationContext, request: OperationRequest, { shared, resource, pace }: OneValidation): Promise<JsonObject> {
  try {
    if (pace.due()) await pace.pause()
    pace.check()
    const own = parametersOf(resource ?? {})
    const names = new Set(own.filter(({ name }) => name !== 'tx-resource').map(({ name }) => name))
    const parameters = [...shared.filter(({ name }) => !names.has(name)), ...own]
    return (await runInValueSet(ctx, { ...request, parameters })).resource
  } catch (error) {
    if (error instanceof OperationError && error.code !== 'aborted') return { ...outcomeOf(error, ctx.newId()) }
    throw error
  }
}
