import { BANNED_NAMES, parseJsonSource, isObject, type JsonObject } from 'fhir-ops/json'
import { unavailable } from './failure.js'

/** What the upstream answered, read to its end within the bounds. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Reads a body of at most `maxBytes`, which must be UTF-8; reading stops at the limit. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel()
    throw unavailable('sent an answer that is too large')
  }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw unavailable('sent an answer that is too large')
    text += decoded(() => decoder.decode(chunk, { stream: true }))
  }
  return text + decoded(() => decoder.decode())
}

function decoded(decode: () => string): string {
  try {
    return decode()
  } catch {
    throw unavailable('sent an answer that is not UTF-8')
  }
}

/**
 * The answer's body, which must be a JSON object by its type and its text, not too deep, without a member twice, and without the names and
 * values that bodies of requests may not have either (section 5 of the security requirements).
 */
export function jsonOf({ headers, text }: Answer): JsonObject {
  if (!isJsonType(headers.get('content-type') ?? '')) throw unavailable('sent an answer that is not JSON')
  const { value, slips, fault } = parseJsonSource(text)
  if (fault !== undefined || slips.length > 0 || !isObject(value) || !isHarmless(value))
    throw unavailable('sent an answer that is not a well-formed JSON object')
  return value
}

function isJsonType(contentType: string): boolean {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  return type === 'application/fhir+json' || type === 'application/json'
}

function isHarmless(root: JsonObject): boolean {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (!isHarmlessAlone(value)) return false
    if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) open.push(part)
  }
  return true
}

/** Not looking at what is in it. */
function isHarmlessAlone(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value === 'number') return Number.isFinite(value)
  return !isObject(value) || !Object.keys(value).some((name) => BANNED_NAMES.has(name))
}
