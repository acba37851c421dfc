import type { PutEntry, Storage } from 'fhir-ops/storage'

/** Writes batches, a few at the same time, so that the storage is never idle; those that share a resource one after the other. */
export interface BatchWriter {
  /** Resolves when the batch may be written. @throws {OperationError} when one before it failed. */
  ready(batch: readonly PutEntry[]): Promise<void>
  /** Starts to write a batch that is ready, or a part of it. */
  write(batch: readonly PutEntry[]): void
  /** Waits for all batches. @throws {OperationError} when one failed. */
  done(): Promise<void>
  /** Waits until no batch is under way, whatever became of them. */
  settled(): Promise<void>
  /** How many entries of each type the storage has acknowledged. */
  written(): ReadonlyMap<string, number>
}

interface UnderWay {
  readonly addresses: ReadonlySet<string>
  /** How many entries it has of each type. */
  readonly types: ReadonlyMap<string, number>
  readonly ended: Promise<void>
}

/** SQLite makes one transaction of those that wait, and writes each page once for all of them. */
const MOST_AT_ONCE = 8

/** Makes a writer of batches. */
export function batchWriter(storage: Storage): BatchWriter {
  let underWay: readonly UnderWay[] = []
  const written = new Map<string, number>()
  // Without the batch, which would live until the storage has it: what is old is costly to collect.
  const acknowledged = async (writing: Promise<unknown>, { addresses, types }: Pick<UnderWay, 'addresses' | 'types'>): Promise<void> => {
    await writing
    underWay = underWay.filter((other) => other.addresses !== addresses)
    for (const [type, count] of types) written.set(type, (written.get(type) ?? 0) + count)
  }
  return {
    async ready(batch) {
      const addresses = addressesOf(batch)
      const mustWait = (): boolean =>
        underWay.length === MOST_AT_ONCE || underWay.some((other) => !other.addresses.isDisjointFrom(addresses))
      while (mustWait()) await underWay[0]?.ended
    },
    write(batch) {
      if (batch.length === 0) return
      const [addresses, types] = [addressesOf(batch), typesOf(batch)]
      const ended = acknowledged(storage.write(batch), { addresses, types })
      // Whoever waits for it hears of a failure; until then it is nobody's.
      ended.catch(() => {})
      underWay = [...underWay, { addresses, types, ended }]
    },
    async done() {
      for (const { ended } of underWay) await ended
    },
    async settled() {
      await Promise.allSettled(underWay.map(({ ended }) => ended))
    },
    written: () => written,
  }
}

function addressesOf(batch: readonly PutEntry[]): ReadonlySet<string> {
  return new Set(batch.map(({ type, id }) => `${type}/${id}`))
}

function typesOf(batch: readonly PutEntry[]): ReadonlyMap<string, number> {
  const types = new Map<string, number>()
  for (const { type } of batch) types.set(type, (types.get(type) ?? 0) + 1)
  return types
}
