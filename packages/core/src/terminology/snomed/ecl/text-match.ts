import type { SearchTerm } from '../../../ecl/index.js'
import { fold, placeOfWord } from '../../words.js'

/** True when one of the terms matches the text, without regard to case and accents. */
export function matchesAny(terms: readonly SearchTerm[], text: string): boolean {
  const folded = fold(text)
  return terms.some((term) => (term.match === 'match' ? matchesWords(term.text, folded) : matchesWild(fold(term.text), folded)))
}

/** The words of a term that a text must have. */
export function wordsOfTerm(term: SearchTerm): readonly string[] {
  return fold(term.text)
    .split(/\s+/u)
    .filter((word) => word !== '')
}

function matchesWords(text: string, folded: string): boolean {
  return fold(text)
    .split(/\s+/u)
    .every((word) => word === '' || placeOfWord(folded, word) >= 0)
}

/** Compares piece by piece from the left, each at its first place: linear in the text for each piece. */
function matchesWild(pattern: string, text: string): boolean {
  const pieces = piecesOf(pattern)
  const [first = '', ...rest] = pieces
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  let at = first.length
  const end = text.length - last.length
  return rest.every((piece) => {
    const found = text.indexOf(piece, at)
    at = found + piece.length
    return found >= 0 && at <= end
  })
}

/** The pieces between wild cards; `\*` is an asterisk and `\\` a backslash. */
function piecesOf(pattern: string): readonly string[] {
  const pieces = ['']
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at)
    if (character === '*') pieces.push('')
    else pieces.push((pieces.pop() ?? '') + (character === '\\' ? pattern.charAt(++at) : character))
  }
  return pieces
}
