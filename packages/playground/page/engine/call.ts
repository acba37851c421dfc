/** A request to a FHIR base, as the page makes it and `curl` shows it. */
export interface Call {
  readonly method: 'GET' | 'POST'
  /** From the base, with the query: `/ValueSet/$expand?url=...`. */
  readonly path: string
  /** Absent for a GET. */
  readonly body?: { readonly type: string; readonly text: string }
  /** Resources that must be stored before the call, as JSON: one, or a Bundle of them. Stored for this call in the browser; a server needs them already. */
  readonly stored?: string
}

/** What came back. */
export interface Answer {
  readonly status: number
  /** Media type without parameters; empty where there is no body. */
  readonly type: string
  readonly text: string
  /** The body when it is JSON. */
  readonly json: unknown
  /** How long it took: in the browser the operation by itself, with a server from the call to the last byte. */
  readonly ms: number
}

/** Where calls are sent. */
export interface Runner {
  /** For people: where the work is done. */
  readonly place: string
  /** Resolves with any answer, an error of the service too. @throws {Error} when there is no answer at all; `AbortError` for an aborted call. */
  run(call: Call, signal: AbortSignal): Promise<Answer>
}

/** An answer from its parts. */
export function answerOf({ status, text, ms, type }: Omit<Answer, 'json'>): Answer {
  return { status, text, ms, type: type.split(';', 1)[0]?.trim() ?? '', json: jsonIn(text, type) }
}

function jsonIn(text: string, type: string): unknown {
  if (!/[/+]json\b/.test(type)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
