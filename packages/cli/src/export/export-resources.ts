import { allMatches, type Condition, type Storage } from 'fhir-ops/storage'
import type { Sink } from './sinks.js'

/** What is exported, and where to. */
export interface ExportOptions {
  readonly types: readonly string[]
  /** Only what was written at this time or later, in milliseconds since 1970; everything when absent. */
  readonly since?: number | undefined
  readonly sink: Sink
}

/** Resources of a page; as many are in memory at a time. */
const PAGE = 500

/**
 * Gives the current resources to the sink, type by type, as texts with the numbers as they were stored. What is written meanwhile may or
 * may not be among them.
 *
 * @returns How many there were of each type that has any.
 */
export async function exportResources(storage: Storage, { types, since, sink }: ExportOptions): Promise<ReadonlyMap<string, number>> {
  const where: Condition = since === undefined ? { kind: 'and', conditions: [] } : { kind: 'lastUpdated', from: since }
  const counts = new Map<string, number>()
  async function* texts(type: string): AsyncGenerator<string> {
    for await (const { text } of allMatches(storage, { type, where, limit: PAGE })) {
      counts.set(type, (counts.get(type) ?? 0) + 1)
      yield text
    }
  }
  for (const type of types) await sink(type, texts(type))
  return counts
}
