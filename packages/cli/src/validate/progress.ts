import type { Io } from '../io.js'
import { counted } from '../text.js'

const PROGRESS_MS = 1_000

/** Tells about once a second how many resources were checked. */
export function progressOn(io: Io): () => void {
  let count = 0
  let said = performance.now()
  return () => {
    count++
    if (performance.now() - said < PROGRESS_MS) return
    io.err(`… ${counted(count, 'resource')}`)
    said = performance.now()
  }
}
