import type { ChangedAddress, StorageChanges } from '../storage/index.js'

/** The addresses of the last writes, in order. */
export interface ChangeLog {
  add(address: ChangedAddress): void
  /** The addresses added after the mark; `unknown` without a mark, or when it is of another log or too old. */
  since(mark: string | undefined): StorageChanges
}

/** Minimum number of addresses that are kept; a reader that needs older ones reads everything again. */
const KEPT = 8_192

/** Creates an empty log, whose marks no other log knows. */
export function createChangeLog(): ChangeLog {
  // Created at the first call of `since`, because loading the code for it takes Node as long as a small validation.
  let name: string | undefined
  let kept: ChangedAddress[] = []
  let forgotten = 0
  return {
    add({ type, id }) {
      kept.push({ type, id })
      if (kept.length < KEPT * 2) return
      forgotten += kept.length - KEPT
      kept = kept.slice(-KEPT)
    },
    since(mark = '') {
      name ??= crypto.randomUUID()
      const [own, number = ''] = mark.split(' ')
      const place = own === name ? Number(number) - forgotten : -1
      return { mark: `${name} ${forgotten + kept.length}`, changed: place >= 0 ? kept.slice(place) : 'unknown' }
    },
  }
}
