import type { ChangedAddress, StorageChanges } from '../storage/index.js'

/** The addresses of the last writes, in order. */
export interface ChangeLog {
  add(address: ChangedAddress): void
  /** What was added after the mark; `unknown` without one, and for one that is of another log or too old. */
  since(mark: string | undefined): StorageChanges
}

/** At least this many are kept; a reader that needs older ones reads everything again. */
const KEPT = 8_192

/** An empty log, whose marks no other log knows. */
export function createChangeLog(): ChangeLog {
  // Made at the first question: to load what makes it takes Node as long as a small validation.
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
