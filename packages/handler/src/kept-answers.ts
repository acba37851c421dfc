import type { Kept } from 'fhir-ops/internal/content'
import { LRUCache } from 'lru-cache'
import type { Answer, KeptAnswer } from './http/answer.js'
import type { Exchange } from './exchange.js'

/** Finds what was answered to a request before. */
export type AnswerFinder = (exchange: Exchange) => KeptAnswer | undefined

/** Characters of all questions and answers together. */
const MOST = 8 * 1024 * 1024
/** Characters of one question, and of one answer. */
const LONGEST_QUESTION = 4 * 1024
const LONGEST_ANSWER = 32 * 1024

/**
 * Keeps answers to what is asked again, of operations that follow from the request and the definitions alone (`cacheable`), for as long as no definition changes. Whether the
 * caller may ask is for the stages to say, each time; callers who see a part of the resources, or for whom a rule of the host decides, get answers of their own.
 */
export function answerFinder(): AnswerFinder {
  let isQuick = true
  return (exchange) => {
    if (!isQuick || !isShared(exchange)) return undefined
    const kept = exchange.ctx.content.kept?.()
    // A revision that has to be waited for would be asked for twice by each request that finds nothing.
    isQuick = kept !== undefined && !(kept instanceof Promise)
    return kept === undefined || kept instanceof Promise ? undefined : place(answersIn(kept), exchange)
  }
}

function isShared({ route, whole, caller, params, bytes, request }: Exchange): boolean {
  if (route?.isCacheable !== true || whole !== undefined || params.has('id')) return false
  return !caller.isNarrowed && !caller.hides && request.target.length + (bytes?.length ?? 0) <= LONGEST_QUESTION
}

/** Reads every byte as one character, so that no two bodies are the same text. */
const BYTES = new TextDecoder('latin1')

/** All that the answer follows from besides the definitions and the body. */
function headOf({ request, caller }: Exchange): string {
  const header = (name: string): string => request.header(name) ?? ''
  const headers = `${header('accept-language')}\n${header('prefer')}\n${header('x-too-costly-threshold')}`
  return `${request.method} ${request.target}\n${headers}\n${caller.principal?.scopes.join(' ') ?? ''}\n\n`
}

/** A number for a question, which few others have. To make its text takes longer. */
function hashOf(head: string, bytes: Uint8Array = NOTHING): number {
  let hash = 0
  for (let at = 0; at < head.length; at++) hash = (Math.imul(hash, 31) + head.charCodeAt(at)) | 0
  for (let at = 0; at < bytes.length; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0
  return hash
}

const NOTHING = new Uint8Array()

const SLOTS = 4_096

/** Answers by their questions. A class, so that they are recognized among what engines keep. */
class Answers extends LRUCache<string, Answer> {
  /** Hashes of questions that were asked, each in its slot until another takes it. */
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

/** Looks for an answer, and keeps it, from the second time on: keeping an answer that is not requested again costs more than a tenth of making it. */
function place(answers: Answers, exchange: Exchange): KeptAnswer {
  const { bytes } = exchange
  const head = headOf(exchange)
  const hash = hashOf(head, bytes)
  const question = answers.wasAsked(hash) ? head + (bytes === undefined ? '' : BYTES.decode(bytes)) : undefined
  return {
    answer: question === undefined ? undefined : answers.get(question),
    keep(answer) {
      if (answer.status !== 200 || answer.body === undefined || answer.body.length > LONGEST_ANSWER) return
      if (question === undefined) answers.noteAsked(hash)
      else answers.set(question, answer)
    },
  }
}
