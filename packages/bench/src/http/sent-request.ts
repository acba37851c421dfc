import type { Request } from 'autocannon'
import type { BenchRequest } from './requests.js'

/** The request for autocannon, each time with another code if its codes vary. */
export function sentRequest({ path, method, headers, body, varies }: BenchRequest): Request {
  const sent = { path, method, headers: { ...headers }, ...(body !== undefined && { body }) }
  if (varies === undefined) return sent
  let count = 0
  const other = (text: string): string => text.replace(varies, varies.replace(/\d+/, '') + String(10_000 + (count % 80_000)))
  const setupRequest = (before: Request): Request => {
    count += 1
    return { ...before, path: other(path), ...(body !== undefined && { body: other(body) }) }
  }
  return { ...sent, setupRequest }
}
