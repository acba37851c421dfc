import { createPace } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { createAnswerSize } from '../http/answer-size.js'

/** Members of a Bundle other than its entries. */
export interface BundleHead {
  readonly type: 'searchset' | 'history' | 'batch-response' | 'transaction-response'
  readonly total?: number | undefined
  readonly link?: readonly object[]
}

/** Writes a Bundle. Entries are added as text, so that the numbers of stored resources keep their digits. */
export interface BundleWriter {
  /** @throws {OperationError} `too-costly` if the Bundle would be longer than answers may be. */
  add(entry: string): void
  text(): string
}

/** @param advice What the caller can do if the Bundle becomes too long. */
export function createBundleWriter(
  { limits }: Pick<OperationContext, 'limits'>,
  { type, total, link }: BundleHead,
  advice: string,
): BundleWriter {
  const size = createAnswerSize({ maxBytes: limits.maxAnswerBytes, advice })
  const rest = `${total === undefined ? '' : `,"total":${total}`}${link === undefined ? '' : `,"link":${JSON.stringify(link)}`}`
  const entries: string[] = []
  const head = `{"resourceType":"Bundle","type":"${type}"${rest}`
  size.add(head)
  return {
    add(entry) {
      size.add(entry)
      entries.push(entry)
    },
    text: () => (entries.length === 0 ? `${head}}` : `${head},"entry":[${entries.join(',')}]}`),
  }
}

/**
 * Writes a page of results. Each entry is made in its turn, and other requests run in between.
 *
 * @throws {OperationError} `too-costly` if the page is longer than answers may be; `computation-timeout`, `aborted`.
 */
export async function pageText(ctx: OperationContext, head: BundleHead, entries: Iterable<string>): Promise<string> {
  const writer = createBundleWriter(ctx, head, 'Ask for fewer resources with _count.')
  const pace = createPace(ctx)
  for (const entry of entries) {
    writer.add(entry)
    await pace.step()
  }
  return writer.text()
}
