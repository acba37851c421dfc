import type { Handler } from '@fhir-ops/handler'
import type { Pace } from 'fhir-ops/internal/context'
import { isObject, objectAt, objectsAt, parseInPieces, stringAt, writeInPieces, type JsonObject } from 'fhir-ops/internal/json'

/** The service that tools call, and the caller's credentials. */
export interface FhirCallerOptions {
  /** The handler that serves the calls. */
  readonly handler: Handler
  /** Address of the service, the same as `baseUrl` of the handler. */
  readonly baseUrl: string
  /** The caller's `Authorization` header, passed on with each call; absent if the handler requires none. */
  readonly authorization?: string | undefined
}

/** A call below the FHIR base. */
interface FhirCall {
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Makes the call a POST. */
  readonly body?: JsonObject
}

/** An unsuccessful answer of the service, with the message of its OperationOutcome. */
export class FhirRefusal extends Error {
  override readonly name = 'FhirRefusal'
  /** Status of the answer; absent if the service was not called. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** Calls the service. @throws {FhirRefusal} for any status except 2xx. */
export type FhirCaller = (call: FhirCall) => Promise<JsonObject>

/**
 * Creates a function that calls a handler on behalf of one caller; the handler's rights, limits and audit apply.
 *
 * @param pace Pace of the work on requests and answers.
 * @param signal Aborted when nobody waits for the answer any longer.
 */
export function fhirCaller({ handler, baseUrl, authorization }: FhirCallerOptions, pace: Pace, signal: AbortSignal): FhirCaller {
  return async ({ path, query = {}, body }) => {
    // In an address, these parts mean the folder itself and its parent, so the call would reach another path.
    if (path.split('/').some((part) => part === '.' || part === '..'))
      throw new FhirRefusal('An id of . or .. cannot be part of an address.')
    const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]]))
    const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
    const headers: Record<string, string> = {
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { 'content-type': 'application/fhir+json' }),
    }
    const init = body === undefined ? { headers, signal } : { method: 'POST', headers, signal, body: await pace.run(writeInPieces(body)) }
    const response = await handler(new Request(`${baseUrl.replace(/\/$/, '')}/fhir/R4/${path}${search}`, init))
    const answer = await valueOf(await response.text(), pace)
    if (!response.ok) throw new FhirRefusal(refusalOf(answer) ?? `The service answered ${response.status}.`, response.status)
    return isObject(answer) ? answer : { value: answer }
  }
}

async function valueOf(text: string, pace: Pace): Promise<unknown> {
  try {
    return await pace.run(parseInPieces(text))
  } catch (error) {
    // A bot may answer with plain text.
    if (error instanceof SyntaxError) return text
    throw error
  }
}

function refusalOf(answer: unknown): string | undefined {
  if (!isObject(answer)) return undefined
  const texts = objectsAt(answer, 'issue').map((issue) => {
    const expression = issue['expression']
    const place = Array.isArray(expression) && expression.length > 0 ? ` (${expression.join(', ')})` : ''
    return `${stringAt(objectAt(issue, 'details'), 'text') ?? stringAt(issue, 'diagnostics') ?? stringAt(issue, 'code') ?? ''}${place}`
  })
  return texts.length === 0 ? undefined : texts.join(' ')
}
