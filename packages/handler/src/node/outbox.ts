import type { ServerResponse } from 'node:http'

/** Responses that only have to be sent: the ends of those that are ready at almost the same time, one behind the other. */
export interface Outbox {
  /** Ends a response whose head was given, with its body, once the sockets that are ready have been read. */
  end(response: ServerResponse, body: string | undefined): void
  /** Called for each new request: what waits for long enough does not wait for that one, too. */
  requestArrives(): void
}

/** Most that wait; a reader of the first should not wait for the work of many others. */
const MOST = 16
/** Longest wait in milliseconds before other work begins. */
const LONGEST_MS = 1

/**
 * Makes the outbox of a process. A peer that sleeps until an answer comes has to be woken by it, which costs the sender more than the writing does; while answers
 * follow each other closely, it is woken once for several.
 */
export function createOutbox(): Outbox {
  let waiting: Ending[] = []
  let since = 0
  const send = (): void => {
    const ready = waiting
    waiting = []
    for (const ending of ready) finish(ending)
  }
  return {
    end(response, body) {
      if (waiting.push({ response, body }) === MOST) return send()
      if (waiting.length > 1) return
      since = performance.now()
      setImmediate(send)
    },
    requestArrives() {
      if (waiting.length > 0 && performance.now() - since > LONGEST_MS) send()
    },
  }
}

/** Middleware may have put an `end` of its own into the response: what that throws is for its peer, who sees a closed connection, and not for the others. */
function finish({ response, body }: Ending): void {
  if (response.destroyed || response.writableEnded) return
  try {
    response.end(body)
  } catch {
    response.destroy()
  }
}

interface Ending {
  readonly response: ServerResponse
  readonly body: string | undefined
}
