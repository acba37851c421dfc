import { checkpoint, createPace, paced, type Pace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { outcomeOk } from 'fhir-ops/internal/errors'
import { storedResource, type StoredResource, type WriteEntry, type WriteResult } from 'fhir-ops/storage'
import type { Exchange, WritePlan } from '../exchange.js'
import { emptyAnswer, fhirAnswer, fhirText, type Answer } from '../http/answer.js'
import { FHIR_PATH, type Service } from '../service.js'
import { returnPreference } from '../http/negotiation.js'
import { versionHeaders } from './read.js'

/** Executes a planned write. @throws {OperationError} `version-conflict` */
export async function executePlan(service: Service, exchange: Exchange, plan: WritePlan): Promise<Answer> {
  const writes = await writesOf(plan, createPace(exchange.ctx))
  checkpoint(exchange.ctx)
  const results = writes.length === 0 ? [] : await exchange.ctx.storage.write(writes)
  return answerToPlan(service, exchange, { plan, writes, results })
}

/** Maximum number of attempts of a write that conflicts with other writes. */
const ATTEMPTS = 5

/**
 * Plans and writes a change, and tries again if others have changed the resource meanwhile.
 *
 * @throws {OperationError} `version-conflict` if every attempt conflicts.
 */
export async function retryingConflicts<T>(change: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change()
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof OperationError) || error.code !== 'version-conflict') throw error
    }
  }
}

/** A plan that has been executed. */
interface DoneWrite {
  readonly plan: WritePlan
  readonly writes: readonly WriteEntry[]
  readonly results: readonly WriteResult[]
}

/** Makes the answer to a write. The answer to the deletion of a single resource includes the new version. */
export async function answerToPlan(
  service: Service,
  exchange: Exchange,
  { plan, writes: [first, ...others], results: [result] }: DoneWrite,
): Promise<Answer> {
  const { subset } = plan
  if (plan.kind === 'found') return resourceAnswer(service, exchange, { stored: plan.stored, status: 200, subset })
  if (first === undefined || first.op === 'delete') return deletionAnswer(exchange, others.length === 0 ? result : undefined)
  if (result?.versionId === undefined) throw new TypeError('The storage gave no version for a put.')
  const { type, id, text } = first
  const stored = storedResource({ type, id, text, versionId: result.versionId, lastUpdated: result.lastUpdated })
  return resourceAnswer(service, exchange, { stored, status: result.created ? 201 : 200, subset })
}

function deletionAnswer({ request }: Exchange, result: WriteResult | undefined): Answer {
  const { versionId, lastUpdated } = result ?? {}
  const headers = versionId === undefined || lastUpdated === undefined ? [] : versionHeaders({ versionId, lastUpdated })
  return returnPreference(request) === 'OperationOutcome' ? fhirAnswer(200, outcomeOk(), headers) : emptyAnswer(204, headers)
}

interface Shown {
  readonly stored: StoredResource
  readonly status: 200 | 201
  readonly subset: WritePlan['subset']
}

/** A patch returns the resource only to callers who may read it, because they sent only a part of it. */
async function resourceAnswer(service: Service, { request, caller, ctx }: Exchange, { stored, status, subset }: Shown): Promise<Answer> {
  const { type, id, versionId } = stored
  const location = `${service.baseUrl}${FHIR_PATH}/${type}/${id}/_history/${versionId}`
  const headers = [...versionHeaders(stored), ['Location', location] as const]
  const preference = returnPreference(request)
  if (preference === 'minimal' || (request.method === 'PATCH' && caller.decide('read', type, id) !== 'allow'))
    return emptyAnswer(status, headers)
  if (preference === 'OperationOutcome') return fhirAnswer(status, outcomeOk(), headers)
  return fhirText(status, subset === undefined ? stored.text : await paced(ctx, subset(stored.text)), headers)
}

/** Returns the changes of a plan. @param text Text of the resource, if it differs from the one that was sent. */
export async function writesOf(plan: WritePlan, pace: Pace, text?: string): Promise<readonly WriteEntry[]> {
  if (plan.kind === 'put') return [await pace.run(plan.entry(text ?? plan.text))]
  return plan.kind === 'delete' && plan.hidden !== true ? plan.entries : []
}
