/**
 * The form in which texts are compared: lower case, without accents, blanks as single spaces. Marks that make another letter stay: those of
 * Devanagari and Thai, the parts of Korean syllables, the voiced sounds of Japanese.
 */
export function fold(text: string): string {
  const folded = BEYOND_ASCII.test(text) ? foldedLetters(text) : text.toLowerCase()
  return folded.replace(/\s+/g, ' ').trim()
}

/** All others are lower case with nothing more to do, which is most of what a load folds (`npm run bench first-load`). */
const BEYOND_ASCII = /[\u0080-\uffff]/

function foldedLetters(text: string): string {
  return text.normalize('NFD').replace(ACCENTS, '').normalize('NFC').toLowerCase().replaceAll('ς', 'σ')
}

/** Those of Latin, Greek and Cyrillic letters, and the points of Hebrew and Arabic. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670]+/gu
