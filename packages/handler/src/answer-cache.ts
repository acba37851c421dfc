import type { Kept } from 'fhir-ops/internal/content'
import { LRUCache } from 'lru-cache'
import type { Answer, CachedAnswer } from './http/answer.js'
import type { Exchange } from './exchange.js'

/** Finds the cached answer of a request. */
export type AnswerCache = (exchange: Exchange) => CachedAnswer | undefined

/** Total number of characters of all questions and answers. */
const MOST = 8 * 1024 * 1024
/** Maximum characters of one question, and of one answer. */
const LONGEST_QUESTION = 4 * 1024
const LONGEST_ANSWER = 32 * 1024

/**
 * Caches answers to repeated requests until a definition changes, for operations whose answer depends only on the request and the definitions
 * (`cacheable`). The stages check the caller's rights each time. Callers who see only part of the resources, or for whom a rule of the host decides, get
 * their own answers.
 */
export function createAnswerCache(): AnswerCache {
  let isQuick = true
  return (exchange) => {
    if (!isQuick || !isShared(exchange)) return undefined
    const kept = exchange.ctx.content.kept?.()
    // If the revision had to be awaited, each request without a cached answer would wait for it twice.
    isQuick = kept !== undefined && !(kept instanceof Promise)
    return kept === undefined || kept instanceof Promise ? undefined : place(answersIn(kept), exchange)
  }
}

function isShared({ route, bundle, caller, params, bytes, request }: Exchange): boolean {
  if (route?.isCacheable !== true || bundle !== undefined || params.has('id')) return false
  return !caller.isNarrowed && !caller.hides && request.target.length + (bytes?.length ?? 0) <= LONGEST_QUESTION
}

/** Reads each byte as one character, so that different bodies are different texts. */
const BYTES = new TextDecoder('latin1')

/** Everything that the answer depends on, besides the definitions and the body. */
function headOf({ request, caller }: Exchange): string {
  const header = (name: string): string => request.header(name) ?? ''
  const headers = `${header('accept-language')}\n${header('prefer')}\n${header('x-too-costly-threshold')}`
  return `${request.method} ${request.target}\n${headers}\n${caller.principal?.scopes.join(' ') ?? ''}\n\n`
}

/** Hashes a question. That is faster than making its text. */
function hashOf(head: string, bytes: Uint8Array = NOTHING): number {
  let hash = 0
  for (let at = 0; at < head.length; at++) hash = (Math.imul(hash, 31) + head.charCodeAt(at)) | 0
  for (let at = 0; at < bytes.length; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0
  return hash
}

const NOTHING = new Uint8Array()

const SLOTS = 4_096

/** Answers by question. A class, so that they are recognized among what engines keep. */
class Answers extends LRUCache<string, Answer> {
  /** Hashes of questions that were asked before; each stays in its slot until another replaces it. */
  readonly #asked = new Int32Array(SLOTS)

  wasAsked(hash: number): boolean {
    return this.#asked[hash & (SLOTS - 1)] === hash
  }

  noteAsked(hash: number): void {
    this.#asked[hash & (SLOTS - 1)] = hash
  }
}

function answersIn(kept: Kept): Answers {
  const known = kept.get(NAME)
  if (known instanceof Answers) return known
  const made = new Answers({ maxSize: MOST, sizeCalculation: ({ body = '' }, question) => body.length + question.length })
  kept.set(NAME, made)
  return made
}

const NAME = 'answers of a handler'

/** Looks up an answer, and stores it on the second request: storing an answer that is not requested again costs over a tenth of making it. */
function place(answers: Answers, exchange: Exchange): CachedAnswer {
  const { bytes } = exchange
  const head = headOf(exchange)
  const hash = hashOf(head, bytes)
  const question = answers.wasAsked(hash) ? head + (bytes === undefined ? '' : BYTES.decode(bytes)) : undefined
  return {
    answer: question === undefined ? undefined : answers.get(question),
    store(answer) {
      if (answer.status !== 200 || answer.body === undefined || answer.body.length > LONGEST_ANSWER) return
      if (question === undefined) answers.noteAsked(hash)
      else answers.set(question, answer)
    },
  }
}
