import type { ServerResponse } from 'node:http'

/** A reader that takes nothing for so long has gone. */
const STALL_MS = 30_000

/**
 * Sends a text in pieces, each made when the one before has left. Stops when the reader has gone. After a failure the connection ends without
 * the end of the answer, so that nobody takes it for the whole.
 */
export async function sendStream(response: ServerResponse, stream: AsyncIterable<string>): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    response.once('close', resolve)
  })
  response.setTimeout(STALL_MS, () => response.destroy())
  try {
    for await (const chunk of stream) {
      await Promise.race([gone, written(response, chunk)])
      if (response.destroyed) return
    }
    response.setTimeout(0)
    response.end()
  } catch {
    response.destroy()
  }
}

function written(response: ServerResponse, chunk: string): Promise<void> {
  return new Promise((resolve) => {
    response.write(chunk, () => resolve())
  })
}
