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
  readonly ended: Promise<void>
}

/** SQLite makes one transaction of those that wait, and writes each page once for all of them. */
const MOST_AT_ONCE = 8

/** Makes a writer of batches. */
export function batchWriter(storage: Storage): BatchWriter {
  let underWay: readonly UnderWay[] = []
  const written = new Map<string, number>()
  const send = async (batch: readonly PutEntry[], addresses: ReadonlySet<string>): Promise<void> => {
    await storage.write(batch)
    underWay = underWay.filter((other) => other.addresses !== addresses)
    for (const { type } of batch) written.set(type, (written.get(type) ?? 0) + 1)
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
      const addresses = addressesOf(batch)
      const ended = send(batch, addresses)
      // Whoever waits for it hears of a failure; until then it is nobody's.
      ended.catch(() => {})
      underWay = [...underWay, { addresses, ended }]
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
