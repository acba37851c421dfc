import { OperationError, quoted } from 'fhir-ops/errors'
import type { Arrival } from './arrival.js'
import type { PlannedWrite } from './content/bundle/part-runner.js'
import { dispatch, planWrite } from './dispatch.js'
import { isBelowFhir } from './fhir-place.js'
import { failureAnswer, foreseen } from './failure.js'
import type { Answer } from './http/answer.js'
import type { HttpRequest } from './http/http-request.js'
import { parseTarget } from './http/target.js'
import type { Match, Router } from './routes/router.js'
import type { Call } from './routes/route.js'
import { FHIR_PATH, type Service } from './service.js'

/** One entry of a batch: a request of its own, by the caller of the whole. */
export interface Part {
  readonly request: HttpRequest
  readonly call: Call
}

/** Answers an entry of a batch by the route table, a HEAD without a body; it never rejects. */
export async function respondToPart(service: Service, router: Router, part: Part): Promise<Answer> {
  const answer = await answerPart(service, router, part)
  return part.request.method === 'HEAD' ? { status: answer.status, headers: answer.headers } : answer
}

async function answerPart(service: Service, router: Router, part: Part): Promise<Answer> {
  try {
    return await dispatch(service, arrivalOf(service, router, part))
  } catch (thrown) {
    const error = foreseen(thrown, part.call.requestId)
    return failureAnswer(error, { family: 'fhir', realm: service.realm, newId: service.ctx.newId })
  }
}

/** Plans the write that an entry of a transaction asks for. @throws {OperationError} as its route. */
export async function planPart(service: Service, router: Router, part: Part): Promise<PlannedWrite> {
  return planWrite(service, arrivalOf(service, router, part))
}

function arrivalOf(service: Service, router: Router, { request, call }: Part): Arrival {
  const target = parseTarget(pathOf(service, request), service.limits)
  const match = isBelowFhir(service, target) ? router(target.segments) : undefined
  const { caller, connection, remoteHost, requestId, ctx } = call
  if (request.method === 'POST') refuseBatch(match)
  const exchange = { request, connection, remoteHost, requestId, target, family: 'fhir', isFhir: true } as const
  return { exchange, match, caller, partOf: ctx }
}

/** @throws {OperationError} `body-structure` for a url that is not relative to the FHIR base. */
function pathOf({ mount }: Service, { target, method }: HttpRequest): string {
  if (method === '' || !RELATIVE.test(target)) {
    throw new OperationError('body-structure', `The entry has no request with a method and a relative url: ${quoted(target)}.`)
  }
  return ['', ...mount].join('/') + `${FHIR_PATH}/${target}`
}

/** A path that has neither a scheme nor a host, a query, or both; a parser of URLs would pass over control characters. */
const RELATIVE = /^(?=.)(?:[A-Za-z$_][^:?\p{Cc}]*)?(?:\?\P{Cc}*)?$/u

function refuseBatch(match: Match | undefined): void {
  if (match?.routes.get('POST')?.interaction === 'batch')
    throw new OperationError('not-supported', 'A Bundle of requests cannot hold another.')
}
