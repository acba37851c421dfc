/**
 * Normalizes a text for comparison: lower case, `ß` as `ss`, without accents, each run of white space as one space. Marks that form a different letter
 * are kept: those of Devanagari and Thai, the parts of Korean syllables, the voiced sounds of Japanese.
 */
export function fold(text: string): string {
  const letters = foldLetters(text)
  return (BEYOND_ASCII.test(letters) ? asInCapitals(letters) : letters).replace(/\s+/g, ' ').trim()
}

/** `straße` and `strasse` are the same in capitals: STRASSE. */
function asInCapitals(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll('ς', 'σ')
}

/** Normalizes a text as `fold` does, but keeps white space, and `ß`, which the words of imported code systems are stored with. */
export function foldLetters(text: string): string {
  return BEYOND_ASCII.test(text) ? withoutAccents(text) : text.toLowerCase()
}

/** Other texts, which are most of the texts of a load, only need lower case (`npm run bench first-load`). */
const BEYOND_ASCII = /[\u0080-\uffff]/

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(ACCENTS, '').normalize('NFC').toLowerCase().replaceAll('ς', 'σ')
}

/** Accents of Latin, Greek and Cyrillic letters, and the points of Hebrew and Arabic. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670]+/gu
