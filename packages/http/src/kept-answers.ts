import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { LRUCache } from 'lru-cache'
import type { Answer } from './answer.js'

/** Answers that have an ETag, kept to ask the upstream whether they still hold; by address and by the token that got them. */
export interface KeptAnswers {
  get(url: string, token: string | undefined): KeptAnswer | undefined
  /** Keeps the answer if it has an ETag; what was unused for longest goes. */
  set(url: string, token: string | undefined, answer: Answer): void
}

/** An answer with its ETag. */
export interface KeptAnswer {
  readonly etag: string
  readonly answer: Answer
}

/** UTF-16 code units are two bytes. */
const BYTES_PER_CHARACTER = 2

/** @param maxBytes 0 keeps nothing. */
export function keptAnswers(maxBytes: number): KeptAnswers {
  if (maxBytes === 0) return { get: () => undefined, set: () => {} }
  const kept = new LRUCache<string, KeptAnswer>({ maxSize: maxBytes, sizeCalculation: sizeOf })
  return {
    get: (url, token) => kept.get(keyOf(url, token)),
    set(url, token, answer) {
      const etag = answer.headers.get('etag')
      if (answer.status === 200 && etag !== null) kept.set(keyOf(url, token), { etag, answer })
    },
  }
}

/** No token is kept, and no long address. */
function keyOf(url: string, token: string | undefined): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify([url, token]))))
}

function sizeOf({ answer }: KeptAnswer): number {
  return answer.text.length * BYTES_PER_CHARACTER + 1_000
}
