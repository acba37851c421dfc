/** What is wrong at one place of a JSON text, by a name that does not change. */
export type SlipKind =
  | 'comment'
  | 'comma-missing'
  | 'comma-extra'
  | 'name-unquoted'
  | 'value-unquoted'
  | 'quote-single'
  | 'duplicate-name'
  | 'number-form'
  | 'control-character'
  | 'escape-invalid'
  | 'unexpected'
  | 'unterminated'
  | 'too-deep'
  | 'too-many'

/** A departure from the JSON grammar. */
export interface JsonSlip {
  readonly kind: SlipKind
  /** Where it is, in UTF-16 code units from the start. */
  readonly offset: number
  /** Names and indexes down to the value concerned, or to the object or array in which the slip is. */
  readonly path: readonly (string | number)[]
  /** The name, value or character that it is about; empty at the end of the text. */
  readonly token: string
}

/** A text under way. `at` moves forward only. */
export interface SourceReader {
  readonly text: string
  at: number
  /** Reports a slip at an offset; reading goes on. */
  readonly slip: (kind: SlipKind, offset: number, token: string) => void
}

/** Ends the reading of a text that cannot be repaired. Never leaves this folder. */
export class JsonFault extends Error {
  readonly kind: SlipKind
  readonly offset: number

  constructor(kind: SlipKind, offset: number) {
    super(kind)
    this.kind = kind
    this.offset = offset
  }
}

const TAB = 9
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const SPACE = 32
const SLASH = 47

/** Passes over white space and comments; gives the code unit found there, NaN at the end. */
export function skipSpace(reader: SourceReader): number {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at)
    if (code === SLASH) skipComment(reader)
    else if (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB) reader.at++
    else return code
  }
}

function skipComment(reader: SourceReader): void {
  const { text, at } = reader
  const opening = text.slice(at, at + 2)
  if (opening !== '//' && opening !== '/*') throw new JsonFault('unexpected', at)
  reader.slip('comment', at, opening)
  const [closing, after] = opening === '//' ? ['\n', text.length] : ['*/', -1]
  const end = text.indexOf(closing, at + 2)
  if (end < 0 && after < 0) throw new JsonFault('unterminated', at)
  reader.at = end < 0 ? after : end + closing.length
}
