import { hash } from 'node:crypto'

/** SHA-256 of a text in lower-case hex, for `createSessions({ sha256 })` and `jwtVerifier({ sha256 })`. */
export function sha256(text: string): string {
  return hash('sha256', text)
}
