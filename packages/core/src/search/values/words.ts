import { fold } from '../../text/index.js'

/** Longer runs of letters are not words that somebody looks for. */
const MAX_WORD = 64

/** The different words of a text, folded: runs of letters, with their marks, and digits. */
export function wordsIn(text: string): readonly string[] {
  const words = fold(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return [...new Set(words)].filter((word) => word.length <= MAX_WORD)
}
