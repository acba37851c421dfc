import type { Source } from '../load/sources.js'

const WIDTH = 100
const BEFORE = 50

/** The line of the text that a place in a file is in, and a line with a caret below the place. Of a long line the part around it. */
export function sourceLines({ text, line: first }: Source, { line, column }: { line: number; column: number }): readonly string[] {
  const whole = text.split('\n', line - first + 1)[line - first]
  if (whole === undefined) return []
  const start = whole.length <= WIDTH ? 0 : Math.max(0, column - 1 - BEFORE)
  const part = `${start > 0 ? '…' : ''}${whole.slice(start, start + WIDTH)}${whole.length > start + WIDTH ? '…' : ''}`
  const number = String(line).padStart(5)
  const caret = column - 1 - start + (start > 0 ? 1 : 0)
  return [`${number} | ${part}`, `${' '.repeat(number.length)} | ${' '.repeat(caret)}^`]
}
