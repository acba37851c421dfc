import { foldTerm, placeOfWord } from 'fhir-ops/internal/terminology'
import type { SearchTerm } from '../ecl/index.js'

type FoldedTest = (folded: string) => boolean

/** Returns a test for texts that match at least one of the terms, ignoring case and accents. */
export function termTest(terms: readonly SearchTerm[]): (text: string) => boolean {
  const tests = terms.map((term) => (term.match === 'match' ? wordsTest(term) : wildTest(piecesOf(foldTerm(term.text)))))
  return (text) => {
    const folded = foldTerm(text)
    return tests.some((test) => test(folded))
  }
}

/** Returns the words of a term, each once: a text must contain all of them. */
export function wordsOfTerm(term: SearchTerm): readonly string[] {
  const words = foldTerm(term.text)
    .split(/\s+/u)
    .filter((word) => word !== '')
  return [...new Set(words)]
}

/** Returns the number of words and of pieces between wildcards, which is how many comparisons a test of a text may take. */
export function wordCount(terms: readonly SearchTerm[]): number {
  return terms.reduce((count, term) => count + (term.match === 'match' ? wordsOfTerm(term) : piecesOf(term.text)).length, 0)
}

function wordsTest(term: SearchTerm): FoldedTest {
  const words = wordsOfTerm(term)
  return (folded) => words.every((word) => placeOfWord(folded, word) >= 0)
}

/** Compares piece by piece from the left, each at its first occurrence: linear in the length of the text for each piece. */
function wildTest([first = '', ...rest]: readonly string[]): FoldedTest {
  const last = rest.pop()
  if (last === undefined) return (text) => text === first
  return (text) => {
    if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
    let at = first.length
    const end = text.length - last.length
    return rest.every((piece) => {
      const found = text.indexOf(piece, at)
      at = found + piece.length
      return found >= 0 && at <= end
    })
  }
}

/** Splits a pattern at its wildcards; `\*` is an asterisk and `\\` a backslash. */
function piecesOf(pattern: string): readonly string[] {
  const pieces = ['']
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at)
    if (character === '*') pieces.push('')
    else pieces.push((pieces.pop() ?? '') + (character === '\\' ? pattern.charAt(++at) : character))
  }
  return pieces
}
