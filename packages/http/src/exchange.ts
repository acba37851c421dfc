import { OperationError } from 'fhir-ops/errors'
import { readText, type Answer } from './answer.js'
import { callerRefused, timedOut, unavailable } from './failure.js'
import type { HttpSettings } from './options.js'

/** One request to the upstream. */
export interface Ask {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const MAX_TRIES = 3
const FIRST_PAUSE_MS = 100
const MAX_RETRY_AFTER_SECONDS = 120

/**
 * Sends a request and reads the answer. A GET that the upstream asks to repeat later is tried again at most twice, as long as the time lasts;
 * other methods are never repeated, as nobody can know what they have done.
 *
 * @throws {OperationError} `storage-timeout`; `storage-unavailable` for a connection that fails, a redirection, a server error, an answer
 *   that is too large, and credentials of this service that are refused; `forbidden` for those of the caller.
 */
export async function exchange(settings: HttpSettings, ask: Ask): Promise<Answer> {
  const { kept } = settings
  const token = await settings.token()
  const known = ask.method === 'GET' ? kept.get(ask.url, token) : undefined
  const headers = {
    ...ask.headers,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(known !== undefined && { 'if-none-match': known.etag }),
  }
  const answer = await patiently(settings, { ...ask, headers })
  if (answer.status === 304 && known !== undefined) return known.answer
  if (ask.method === 'GET') kept.set(ask.url, token, answer)
  return checked(answer, settings)
}

async function patiently(settings: HttpSettings, ask: Ask): Promise<Answer> {
  const deadline = performance.now() + settings.timeoutMs
  for (let tries = 1; ; tries++) {
    const answer = await once(settings, ask, deadline - performance.now())
    if (!isBusy(answer)) return answer
    const pause = pauseBefore(tries, answer)
    const isLast = ask.method !== 'GET' || tries === MAX_TRIES || performance.now() + pause >= deadline
    if (isLast) throw unavailable('is too busy', retryAfterSeconds(answer))
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

async function once({ fetch, maxAnswerBytes }: HttpSettings, ask: Ask, timeoutMs: number): Promise<Answer> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), Math.max(0, timeoutMs))
  try {
    const response = await fetch(ask.url, {
      method: ask.method,
      headers: ask.headers,
      ...(ask.body !== undefined && { body: ask.body }),
      redirect: 'manual',
      signal: stop.signal,
    })
    return { status: response.status, headers: response.headers, text: await readText(response, maxAnswerBytes) }
  } catch (error) {
    if (error instanceof OperationError) throw error
    throw stop.signal.aborted ? timedOut() : unavailable('cannot be reached')
  } finally {
    clearTimeout(timer)
    // Ends the connection of an answer that was not read to its end.
    stop.abort()
  }
}

function isBusy({ status }: Answer): boolean {
  return status === 429 || status === 503
}

function checked(answer: Answer, { forwardsToken }: HttpSettings): Answer {
  const { status } = answer
  if (status === 401 || status === 403) throw forwardsToken ? callerRefused() : unavailable('refuses the credentials of this service')
  if (status >= 500) throw unavailable('failed')
  if (status < 200 || (status >= 300 && status < 400)) throw unavailable('sent a redirect')
  return answer
}

/** Milliseconds: what the upstream asks for, else twice as long each time, somewhat at random so that clients do not come back at once. */
function pauseBefore(tries: number, answer: Answer): number {
  const asked = retryAfterSeconds(answer)
  if (asked !== undefined) return asked * 1_000
  return FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random())
}

/** `Retry-After`, as seconds or as a date, at most two minutes. */
function retryAfterSeconds({ headers }: Answer): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? ''
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1_000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS)
}
