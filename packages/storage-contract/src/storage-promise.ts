import type { Storage } from 'fhir-ops/storage'

/** The storage that a test of the contract works with. */
export interface Subject {
  readonly storage: Storage
  /** Opens the same content again, after the first storage has been closed. */
  readonly reopen: (() => Promise<Storage>) | undefined
  /** Sets the clock of `lastUpdated`. */
  readonly setTime: (instant: string) => void
}

/** A sentence of the documentation of `Storage`, and the test that it holds. */
export interface StoragePromise {
  readonly promise: string
  readonly check: (subject: Subject) => Promise<void>
}
