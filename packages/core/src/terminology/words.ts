import type { FilterWord } from '../code-system/index.js'
import { foldLetters } from '../text/index.js'

/** Combining marks belong to the letters before them; many scripts write vowels as marks. */
const LETTERS_AND_DIGITS = /[\p{L}\p{M}\p{N}]+/gu

/** Folds a term for text filters: as in searches, and with compatibility forms (`ﬁ`, `①`, `ｶ`) normalised. */
export function foldTerm(text: string): string {
  return /^[\x00-\x7f]*$/.test(text) ? text.toLowerCase() : foldLetters(text.normalize('NFKC'))
}

/** Splits a folded text into words: runs of letters and digits, and runs of other characters that are not blanks. */
export function wordsOf(folded: string): readonly string[] {
  return folded.match(/[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}\s]+/gu) ?? []
}

/**
 * Splits a filter into words. Blanks and punctuation between letters separate words; punctuation at the beginning or end of a word stays with it, so
 * that no character is a wildcard.
 */
export function filterWords(filter: string): readonly FilterWord[] {
  return foldTerm(filter).split(/\s+/u).flatMap(pieces).map(filterWord)
}

/** Returns the first position in the folded text where the piece is at the start of a word; -1 when there is none. */
export function placeOfWord(folded: string, piece: string): number {
  for (let at = folded.indexOf(piece); at >= 0; at = folded.indexOf(piece, at + 1)) {
    if (startsWord(folded, at)) return at
  }
  return -1
}

function pieces(token: string): readonly string[] {
  const words = token.match(LETTERS_AND_DIGITS) ?? []
  const [first, last] = [words.at(0), words.at(-1)]
  if (first === undefined || last === undefined) return token === '' ? [] : [token]
  const before = token.slice(0, token.indexOf(first))
  const after = token.slice(token.lastIndexOf(last) + last.length)
  return words.map((word, i) => `${i === 0 ? before : ''}${word}${i === words.length - 1 ? after : ''}`)
}

function filterWord(text: string): FilterWord {
  const runs = wordsOf(text)
  return { text, start: runs[0] ?? text, verbatim: runs.length > 1 }
}

function startsWord(text: string, at: number): boolean {
  if (at === 0) return true
  const before = text.slice(Math.max(0, at - 2), at)
  return /\s$/u.test(before) || /[\p{L}\p{M}\p{N}]$/u.test(before) !== /^[\p{L}\p{M}\p{N}]/u.test(text.slice(at, at + 2))
}
