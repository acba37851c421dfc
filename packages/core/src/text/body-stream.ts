/**
 * Iterates over the chunks of a stream. In WebKit, streams are not iterable. If its reader stops early, the stream is cancelled, so that the sender does
 * not wait.
 *
 * @param signal Ends the wait for the next chunk, which may never come if the sender is gone.
 * @throws the reason of the signal, when it is aborted before the end
 */
export async function* chunksOf(
  stream: ReadableStream<Uint8Array> | null,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (stream === null) return
  signal?.throwIfAborted()
  // The bodies of node-fetch are streams of Node.
  if (!('getReader' in stream)) return yield* iterable(stream)
  const reader = stream.getReader()
  const cancel = (): Promise<void> => reader.cancel().catch(() => {})
  const onAbort = (): void => void cancel()
  signal?.addEventListener('abort', onAbort)
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
    signal?.throwIfAborted()
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await cancel()
  }
}

function iterable(stream: object): AsyncIterable<Uint8Array, void, undefined> {
  if (isIterable(stream)) return stream
  throw new TypeError('A body is not a stream.')
}

function isIterable(stream: object): stream is AsyncIterable<Uint8Array, void, undefined> {
  return Symbol.asyncIterator in stream
}

/** The body of a request as a stream, `null` if there is none. In Firefox, requests have no stream, so the body is read first. */
export function bodyStream(request: Request): ReadableStream<Uint8Array> | null | Promise<ReadableStream<Uint8Array> | null> {
  return 'body' in request ? request.body : readBody(request)
}

async function readBody(request: Pick<Request, 'arrayBuffer'>): Promise<ReadableStream<Uint8Array> | null> {
  const bytes = await request.arrayBuffer()
  return bytes.byteLength === 0 ? null : new Response(bytes).body
}
