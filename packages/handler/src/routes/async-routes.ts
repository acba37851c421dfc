import { OperationError } from 'fhir-ops/errors'
import { createPace } from 'fhir-ops/internal/context'
import { utf8Length } from 'fhir-ops/internal/text'
import type { Job } from '../async/jobs.js'
import { responseEntry } from '../content/bundle/bundle-entries.js'
import { prefersAsync } from '../http/negotiation.js'
import { param, type Exchange, type Route } from '../exchange.js'
import { failureAnswer, toOperationError } from '../failure.js'
import { assembled, emptyAnswer, fhirText, type Answer } from '../http/answer.js'
import { logRequest } from '../observe.js'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import type { Principal } from 'fhir-ops/sessions'
import { requestContext } from '../request-context.js'
import { FHIR_PATH, type Service } from '../service.js'

/** Path of the status of asynchronous requests. */
export const ASYNC_STATUS: string = `${FHIR_PATH}/_async`

/** Routes that return the status of an asynchronous request and cancel it. */
export function asyncRoutes(service: Service): readonly Route[] {
  const row = { path: `${ASYNC_STATUS}/:id`, access: 'token', body: 'none', needs: 'the session that asked' } as const
  return [
    {
      ...row,
      method: 'GET',
      answer: { resource: 'Bundle' },
      summary: 'The result of an asynchronous request, or its progress',
      run: async (exchange) => statusAnswer(found(service, exchange)),
    },
    {
      ...row,
      method: 'DELETE',
      answer: 'nothing',
      summary: 'Cancels an asynchronous request and deletes its result',
      run: async (exchange) => {
        found(service, exchange)
        service.jobs.remove(ownerOf(exchange), param(exchange, 'id'))
        return emptyAnswer(202)
      },
    },
  ]
}

/**
 * Runs a request asynchronously if its caller prefers that: the answer is 202 with the address of its status. An entry of a batch is
 * always answered directly.
 */
export function answeredLater(service: Service, exchange: Exchange, run: (exchange: Exchange) => Awaitable<Answer>): Awaitable<Answer> {
  if (exchange.bundle !== undefined || !prefersAsync(exchange.request)) return run(exchange)
  const started = performance.now()
  const begun = service.jobs.start(ownerOf(exchange), {
    bytes: utf8Length(exchange.body?.text ?? ''),
    run: async (signal, onProgress) => {
      const timeoutMs = service.limits.asyncTimeoutMs
      const ctx = requestContext(service, exchange, { signal, timeoutMs, onProgress })
      return assembled(await run({ ...exchange, ctx }), createPace(ctx))
    },
    failed: (thrown) => {
      const error = toOperationError(thrown, exchange.requestId)
      const answer = failureAnswer(service, exchange, error)
      logRequest(service, exchange, { status: answer.status, started, error })
      return answer
    },
  })
  return after(begun, ({ id }) =>
    emptyAnswer(202, [
      ['Content-Location', `${service.baseUrl}${ASYNC_STATUS}/${id}`],
      ['Preference-Applied', 'respond-async'],
    ]),
  )
}

function ownerOf({ caller }: Exchange): Principal | undefined {
  return caller.principal
}

/** @throws {OperationError} `not-found` for a job of another session, exactly as for one that does not exist. */
function found({ jobs }: Service, exchange: Exchange): Job {
  const id = param(exchange, 'id')
  const job = jobs.find(ownerOf(exchange), id)
  if (job !== undefined) return job
  throw new OperationError(
    'not-found',
    'There is no such asynchronous request: it was deleted, forgotten after a day, lost by a restart, or is at another instance.',
  )
}

const RETRY_SECONDS = '2'

function statusAnswer({ id, progress, answer, expires }: Job): Answer {
  if (answer === undefined) {
    const state = progress === undefined ? 'waiting or just begun' : progressText(progress)
    return emptyAnswer(202, [
      ['X-Progress', state],
      ['Retry-After', RETRY_SECONDS],
    ])
  }
  return fhirText(200, bundleText(id, answer), [['Expires', expires?.toUTCString() ?? '']])
}

function progressText({ done, total, of }: NonNullable<Job['progress']>): string {
  return total === undefined ? `${done} ${of}` : `${done} of ${total} ${of}`
}

/** Returns the answer as the only entry of a batch response; the text of the resource stays unchanged. */
function bundleText(id: string, answer: Answer): string {
  return `{"resourceType":"Bundle","id":${JSON.stringify(id)},"type":"batch-response","entry":[${responseEntry(answer)}]}`
}
