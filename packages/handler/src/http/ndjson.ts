/** Lines are sent together up to about so many characters. */
const CHUNK = 32 * 1024

/**
 * Writes objects as lines of NDJSON. Nothing is made before it is asked for.
 *
 * @yields several lines at a time
 * @throws what the objects' source throws, after all lines before it.
 */
export async function* ndjsonChunks(lines: AsyncIterable<object>): AsyncGenerator<string, void, undefined> {
  let chunk = ''
  try {
    for await (const line of lines) {
      chunk += `${JSON.stringify(line)}\n`
      if (chunk.length < CHUNK) continue
      const full = chunk
      chunk = ''
      yield full
    }
  } catch (error) {
    if (chunk !== '') yield chunk
    throw error
  }
  if (chunk !== '') yield chunk
}

/** A web-standard stream of a text in pieces, each asked for when the reader is ready. */
export function byteStream(chunks: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
