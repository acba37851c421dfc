import { createPace, type Pace } from 'fhir-ops/internal/context'
import { ERRORS, OperationError, outcomeOf } from 'fhir-ops/errors'
import type { WriteEntry } from 'fhir-ops/storage'
import type { Exchange } from '../../exchange.js'
import { createAnswerSize } from '../../http/answer-size.js'
import { fhirAnswer, type Answer } from '../../http/answer.js'
import type { Service } from '../../service.js'
import { contextAfter } from './context-after.js'
import { entryError, responseEntry, type BundlePart, type ReadPart, type ServePart } from './bundle-entries.js'

/** What an entry of the answer has beside its resource, at most. */
export const ENTRY_BYTES = 1_000
/** What the answer has beside its entries, at most. */
export const ENVELOPE_BYTES = 1_000

interface Trial {
  readonly reads: readonly BundlePart[]
  readonly read: ReadPart
  /** What the transaction is going to write. */
  readonly writes: readonly WriteEntry[]
  /** Adds an entry to the answer. @throws {OperationError} `too-costly` */
  readonly add: (entry: string) => void
}

/**
 * Carries the reads out before anything is written, over what will be stored then: one that fails is a failure of the whole transaction.
 *
 * @returns The entries of the answer, by their place.
 * @throws {OperationError} that of the first read that fails, with its place.
 */
export async function tryReads(
  service: Service,
  exchange: Exchange,
  { reads, read, writes, add }: Trial,
): Promise<ReadonlyMap<number, string>> {
  const entries = new Map<number, string>()
  if (reads.length === 0) return entries
  const over = { ...exchange, ctx: contextAfter(service, exchange, writes) }
  const pace = createPace(exchange.ctx)
  for (const { index, request } of reads) {
    pace.check()
    await pace.step()
    try {
      const entry = responseEntry(await read(request, over))
      add(entry)
      entries.set(index, entry)
    } catch (error) {
      throw entryError(index, error)
    }
  }
  return entries
}

interface Reading {
  readonly reads: readonly BundlePart[]
  readonly serve: ServePart
  /** The entries of the writes, by their place. */
  readonly entries: ReadonlyMap<number, string>
}

/**
 * Adds the entries of the reads after the writing. What was written stays, so this never fails: a read that is too long by now for the rest of the answer
 * says so in its place, and so do those that there is no time for.
 */
export async function answersToReads(exchange: Exchange, { reads, serve, entries }: Reading): Promise<ReadonlyMap<number, string>> {
  const all = new Map(entries)
  const size = createAnswerSize({ maxBytes: exchange.ctx.limits.maxAnswerBytes, advice: '' })
  for (const entry of all.values()) size.add(entry)
  const tooLong = responseEntry(refusalOf(exchange, noRoom()))
  const pace = createPace(exchange.ctx)
  let refusal: OperationError | undefined
  for (const [place, { index, request }] of reads.entries()) {
    refusal ??= await refusalBy(pace)
    const entry = responseEntry(refusal === undefined ? await serve(request, exchange) : refusalOf(exchange, refusal))
    const rest = ENVELOPE_BYTES + (reads.length - place - 1) * ENTRY_BYTES
    const isTaken = size.takes(entry, rest)
    if (!isTaken) size.add(tooLong)
    all.set(index, isTaken ? entry : tooLong)
  }
  return all
}

function noRoom(): OperationError {
  return new OperationError('too-costly', 'The answer to the transaction has no room for this entry; read it by itself.')
}

function refusalOf({ ctx }: Exchange, error: OperationError): Answer {
  return fhirAnswer(ERRORS[error.code].status, outcomeOf(error, ctx.newId()))
}

/** Lets other requests run; why there is no time for more, when that is so. */
async function refusalBy(pace: Pace): Promise<OperationError | undefined> {
  try {
    await pace.step()
    return undefined
  } catch (error) {
    if (error instanceof OperationError) return error
    throw error
  }
}
