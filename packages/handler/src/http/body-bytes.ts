import { OperationError } from 'fhir-ops/errors'
import { after, attempt, type Awaitable } from 'fhir-ops/internal/work'
import type { HttpRequest } from './http-request.js'

/** @throws {OperationError} `body-too-long` when the declared length is above the limit. Nothing is read. */
export function checkDeclaredLength(request: HttpRequest, maxBytes: number): void {
  checkLength(Number(request.header('content-length') ?? 0), maxBytes)
}

/** @throws {OperationError} `body-too-long` above the limit. */
export function checkLength(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new OperationError('body-too-long', `The body is longer than ${maxBytes} bytes.`)
}

/**
 * Reads a body up to its limit; what follows is not read.
 *
 * @throws {OperationError} `body-too-long`; `aborted` when the sender stops before its end.
 */
export function readBytes(request: HttpRequest, maxBytes: number): Awaitable<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  const take = (chunk: Uint8Array): void => {
    length += chunk.length
    checkLength(length, maxBytes)
    chunks.push(chunk)
  }
  const reading = (): Awaitable<void> => (request.readBody === undefined ? readEach(request.body(), take) : request.readBody(take))
  const failed = (cause: unknown): never => {
    if (cause instanceof OperationError) throw cause
    throw new OperationError('aborted', 'The request ended before its body did.', { cause })
  }
  return after(attempt(reading, failed), () => joined(chunks, length))
}

async function readEach(chunks: AsyncIterable<Uint8Array>, take: (chunk: Uint8Array) => void): Promise<void> {
  for await (const chunk of chunks) take(chunk)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks
  if (only !== undefined && chunks.length === 1) return only
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
