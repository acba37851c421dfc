import { createPace } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import type { LongText } from 'fhir-ops/internal/operation'
import { createAnswerSize, fhirPieces, fhirText, piecesLength, SHORT_TEXT, SLICE, slicesOf, type Answer } from '../http/answer.js'

/** Members of a Bundle other than its entries. */
interface BundleHead {
  readonly type: 'searchset' | 'history' | 'batch-response' | 'transaction-response'
  readonly total?: number | undefined
  readonly link?: readonly object[]
}

/** The text of an entry in parts. The text of a stored resource is a part of its own, which answers share. */
export type EntryParts = readonly string[]

/** Writes a Bundle. Entries are added as text, so that the numbers of stored resources keep their digits. */
export interface BundleWriter {
  /** @throws {OperationError} `too-costly` if the Bundle would be longer than answers may be. */
  add(entry: EntryParts): void
  /** Returns the answer with the Bundle. A long Bundle is put together while it is sent. */
  answer(): Answer
}

/** @param advice What the caller can do if the Bundle becomes too long. */
export function createBundleWriter(
  { limits }: Pick<OperationContext, 'limits'>,
  { type, total, link }: BundleHead,
  advice: string,
): BundleWriter {
  const size = createAnswerSize({ maxBytes: limits.maxAnswerBytes, advice })
  const rest = `${total === undefined ? '' : `,"total":${total}`}${link === undefined ? '' : `,"link":${JSON.stringify(link)}`}`
  const head = `{"resourceType":"Bundle","type":"${type}"${rest}`
  const parts = [head]
  let length = head.length
  size.add(head)
  return {
    add(entry) {
      parts.push(parts.length === 1 ? ',"entry":[' : ',')
      for (const part of entry) {
        size.add(part)
        parts.push(part)
        length += part.length
      }
    },
    answer() {
      parts.push(parts.length === 1 ? '}' : ']}')
      return length <= SHORT_TEXT ? fhirText(200, parts.join('')) : fhirPieces(200, longText(parts))
    },
  }
}

function longText(parts: readonly string[]): LongText {
  return { bytes: piecesLength(parts), [Symbol.iterator]: () => piecesOf(parts) }
}

/** @yields short parts joined, and long parts in slices. */
function* piecesOf(parts: readonly string[]): Generator<string, void, undefined> {
  let piece = ''
  for (const part of parts) {
    if (piece !== '' && piece.length + part.length > SLICE) {
      yield piece
      piece = ''
    }
    if (part.length > SLICE) yield* slicesOf(part)
    else piece += part
  }
  yield piece
}

/**
 * Returns the answer with a page of results. Each entry is made in its turn, and other requests run in between.
 *
 * @throws {OperationError} `too-costly` if the page is longer than answers may be; `computation-timeout`, `aborted`.
 */
export async function pageAnswer(ctx: OperationContext, head: BundleHead, entries: Iterable<EntryParts>): Promise<Answer> {
  const writer = createBundleWriter(ctx, head, 'Ask for fewer resources with _count.')
  const pace = createPace(ctx)
  for (const entry of entries) {
    writer.add(entry)
    await pace.step()
  }
  return writer.answer()
}
