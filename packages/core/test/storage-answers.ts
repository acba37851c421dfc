import {
  scanResources,
  writableText,
  type HistoryQuery,
  type ScanQuery,
  type SearchQuery,
  type Storage,
  type WriteEntry,
  type WriteResult,
} from '../src/storage/index.js'
import type { Step } from './random-queries.js'

/** What a storage is to write for a step. */
export function entryOf({ op, type, id, entries }: Step): WriteEntry {
  return op === 'delete' ? { op, type, id } : { op, type, id, text: writableText(type, id, { resourceType: type }), entries }
}

/** What storages must agree on of a write. Nothing is promised of the time of a deletion that found nothing. */
export function versionsOf(results: readonly WriteResult[]): readonly unknown[] {
  return results.map(({ lastUpdated, ...result }) => (result.versionId === undefined ? result : { ...result, lastUpdated }))
}

/** All pages of a search, and its count. */
export async function answerOf(storage: Pick<Storage, 'search' | 'count'>, asked: SearchQuery): Promise<unknown> {
  const pages: (readonly string[])[] = []
  let after: string | undefined
  do {
    const page = await storage.search({ ...asked, ...(after !== undefined && { after }) })
    pages.push(page.items.map(({ text }) => text))
    after = page.next
  } while (after !== undefined)
  return { pages, count: await storage.count(asked) }
}

/** All that a scan gives, by the text of each match; without `scan`, what searches give for it. */
export async function scanOf(storage: Pick<Storage, 'search' | 'scan'>, asked: ScanQuery): Promise<unknown> {
  const found = new Map<string, readonly string[]>()
  for await (const { stored, referring } of scanResources(storage, asked)) {
    if (found.has(stored.text)) throw new Error(`${stored.id} came twice`)
    found.set(stored.text, referring.map(({ text }) => text).sort())
  }
  return found
}

/** A page of a history. */
export async function historyOf({ history }: Storage, asked: HistoryQuery): Promise<unknown> {
  const { items = [], next } = (await history?.page(asked)) ?? {}
  return { versions: items.map(({ stored, ...version }) => ({ ...version, text: stored?.text })), next }
}
