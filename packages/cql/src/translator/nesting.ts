import type { TranslationProblem } from './translator.js'

/** Deepest brackets of a text that is translated; people and generators stay far below. The reference translator takes the square of the depth: a minute for 20,000. */
const MAX_NESTING = 500

/** Texts, names and comments, in which brackets mean nothing (one that is not closed goes to the end), and brackets. */
const TOKEN =
  /'(?:[^'\\]|\\[^])*(?:'|\\?$)|"(?:[^"\\]|\\[^])*(?:"|\\?$)|`(?:[^`\\]|\\[^])*(?:`|\\?$)|\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$)|[()[\]{}]/g

/** The first place at which brackets are nested deeper than a translation follows, as a problem of the text. */
export function nestingProblem(text: string): TranslationProblem | undefined {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if ('([{'.includes(token)) depth++
    else if (')]}'.includes(token)) depth--
    if (depth > MAX_NESTING) return tooDeepAt(text.slice(0, index))
  }
  return undefined
}

function tooDeepAt(before: string): TranslationProblem {
  const lines = before.split('\n')
  return {
    severity: 'error',
    type: 'syntax',
    message: `Brackets are nested too deep to be translated: more than ${MAX_NESTING} levels.`,
    line: lines.length,
    column: (lines.at(-1)?.length ?? 0) + 1,
  }
}
