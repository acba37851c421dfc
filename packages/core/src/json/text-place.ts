/** A place in a text as editors count: lines and columns from 1, columns in UTF-16 code units. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** The line and column of an offset. A line ends with LF. */
export function placeIn(text: string, offset: number): TextPlace {
  let line = 1
  let start = 0
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', start)) {
    line++
    start = end + 1
  }
  return { line, column: offset - start + 1 }
}
