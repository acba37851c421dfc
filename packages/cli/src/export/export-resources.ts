import { allMatches, type Condition, type Storage } from 'fhir-ops/storage'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeFolder } from '../files.js'

/** What to export, and the destination. */
export interface ExportOptions {
  readonly types: readonly string[]
  /** Exports only resources written at this time or later, in milliseconds since 1970; all if absent. */
  readonly since?: number | undefined
  readonly sink: Sink
  /** Called for each resource, with the number of resources so far. */
  readonly onProgress?: (done: number) => void
}

/** Resources per page, which is how many are in memory at a time. */
const PAGE = 500

/**
 * Passes the current resources to the sink, type by type, as texts with numbers as stored. Resources written meanwhile may
 * or may not be included.
 *
 * @returns The number of resources of each type that has any.
 */
export async function exportResources(
  storage: Storage,
  { types, since, sink, onProgress }: ExportOptions,
): Promise<ReadonlyMap<string, number>> {
  const where: Condition = since === undefined ? { kind: 'and', conditions: [] } : { kind: 'lastUpdated', from: since }
  const counts = new Map<string, number>()
  let done = 0
  async function* texts(type: string): AsyncGenerator<string> {
    for await (const { text } of allMatches(storage, { type, where, limit: PAGE })) {
      counts.set(type, (counts.get(type) ?? 0) + 1)
      onProgress?.(++done)
      yield text
    }
  }
  for (const type of types) await sink(type, texts(type))
  return counts
}

/** Receives the resources of a type, one text after the other. */
export type Sink = (type: string, texts: AsyncIterable<string>) => Promise<void>

/** Prints every resource as a line. */
export function lines(out: (line: string) => void): Sink {
  return async (_type, texts) => {
    for await (const text of texts) out(text)
  }
}

/** Writes a file `<Type>.ndjson` for each type that has resources. A file appears under its name when it is complete. */
export async function folder(path: string): Promise<Sink> {
  await makeFolder(path)
  return async (type, texts) => {
    const part = join(path, `${type}.ndjson.part`)
    let isEmpty = true
    async function* lineByLine(): AsyncGenerator<string> {
      for await (const text of texts) {
        isEmpty = false
        yield `${text}\n`
      }
    }
    try {
      await pipeline(lineByLine, createWriteStream(part))
      await (isEmpty ? rm(part) : rename(part, join(path, `${type}.ndjson`)))
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }
}
