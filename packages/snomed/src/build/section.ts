import { bytesOf } from '../release/section-reader.js'
import type { Lists } from '../release/lists.js'

/** A section with its name. */
export type Section = readonly [name: string, bytes: Uint8Array]

/** Lists as two sections. */
export function listSections(name: string, lists: Lists): readonly Section[] {
  return [
    [`${name}.start`, bytesOf(lists.start)],
    [name, bytesOf(lists.items)],
  ]
}
