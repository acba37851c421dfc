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
    return kept === undefined || kept instanceof Promise ? undefined : place(answersIn(kept), questionOf(exchange))
  }
}

function isShared({ route, whole, caller, params, bytes, request }: Exchange): boolean {
  if (route?.isCacheable !== true || whole !== undefined || params.has('id')) return false
  return !caller.isNarrowed && !caller.hides && request.target.length + (bytes?.length ?? 0) <= LONGEST_QUESTION
}

/** Reads every byte as one character, so that no two bodies are the same text. */
const BYTES = new TextDecoder('latin1')

/** All that the answer follows from beside the definitions. */
function questionOf({ request, caller, bytes }: Exchange): string {
  const header = (name: string): string => request.header(name) ?? ''
  const headers = `${header('accept-language')}\n${header('prefer')}\n${header('x-too-costly-threshold')}`
  const body = bytes === undefined ? '' : BYTES.decode(bytes)
  return `${request.method} ${request.target}\n${headers}\n${caller.principal?.scopes.join(' ') ?? ''}\n\n${body}`
}

const SLOTS = 4_096

/** Answers by their questions. A class, so that they are recognised beside what engines keep. */
class Answers extends LRUCache<string, Answer> {
  /** Hashes of questions that were asked, each in its slot until another takes it. */
  readonly #asked = new Int32Array(SLOTS)

  /** True from the second time on: to keep what nobody asks again costs more than a tenth of answering it. */
  isAskedAgain(question: string): boolean {
    let hash = 0
    for (let at = 0; at < question.length; at++) hash = (Math.imul(hash, 31) + question.charCodeAt(at)) | 0
    const slot = hash & (SLOTS - 1)
    const isKnown = this.#asked[slot] === hash
    this.#asked[slot] = hash
    return isKnown
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

function place(answers: Answers, question: string): KeptAnswer {
  return {
    answer: answers.get(question),
    keep(answer) {
      const isKept = answer.status === 200 && answer.body !== undefined && answer.body.length <= LONGEST_ANSWER
      if (isKept && answers.isAskedAgain(question)) answers.set(question, answer)
    },
  }
}
