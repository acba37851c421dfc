import { OperationError } from 'fhir-ops/errors'
import { chunksOf } from 'fhir-ops/internal/text'
import { SHORT_BODY } from './body.js'
import type { HttpRequest } from './http-request.js'

const NAMES: readonly string[] = ['gzip', 'x-gzip']

/**
 * Inflates the body of a request while it is read, if the request says that it is in gzip; returns other requests as they are. Reading the body fails with
 * `body-invalid` if it is damaged, and with `body-too-long` if it inflates to much more, or to less, than what arrives.
 */
export function inflatedRequest(request: HttpRequest): HttpRequest {
  if (!request.hasBody || !NAMES.includes(request.header('content-encoding')?.trim().toLowerCase() ?? '')) return request
  return {
    method: request.method,
    target: request.target,
    hasBody: true,
    header: (name) => (name === 'content-encoding' ? undefined : request.header(name)),
    body: () => inflated(request.body()),
    get signal() {
      return request.signal
    },
    ...(request.onGone !== undefined && { onGone: request.onGone.bind(request) }),
  }
}

/** How many times as long as what has arrived a body of more than 64 KiB may be. */
const MAX_RATIO = 100

/** How many bytes may arrive beyond those that they inflate to: a body can consist of empty blocks without end. */
const MAX_EMPTY = 1024 * 1024

async function* inflated(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = body[Symbol.asyncIterator]()
  let arrived = 0
  let length = 0
  /** Why no more arrives. Any other failure is damage in what has arrived. */
  let failure: unknown
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const part = await chunks.next()
    arrived += part.done === true ? 0 : part.value.length
    if (arrived > length + MAX_EMPTY) throw new OperationError('body-too-long', 'The body inflates to less than its length.')
    return part
  }
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await next()
        if (done === true) controller.close()
        else controller.enqueue(new Uint8Array(value))
      } catch (cause) {
        failure = cause
        throw cause
      }
    },
    cancel: async () => void (await chunks.return?.()),
  })
  try {
    for await (const chunk of chunksOf(source.pipeThrough(new DecompressionStream('gzip')))) {
      length += chunk.length
      if (length > SHORT_BODY && length > MAX_RATIO * arrived)
        throw new OperationError('body-too-long', `The body inflates to more than ${MAX_RATIO} times its length.`)
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof OperationError) throw cause
    throw failure ?? new OperationError('body-invalid', 'The body is not in gzip, or it is damaged.', { cause })
  }
}
