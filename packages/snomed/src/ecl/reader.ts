/** Reads an expression from left to right. */
export interface EclReader {
  /** Position of the next character, from 0. */
  readonly at: number
  /** Skips white space and comments; returns true if there was any. */
  blanks(): boolean
  /** True if these characters follow. */
  sees(text: string): boolean
  /** True if this word follows, in any case, and no letter follows it. */
  seesWord(word: string): boolean
  /** Consumes these characters if they follow; returns whether they did. */
  take(text: string): boolean
  takeWord(word: string): boolean
  /** Consumes the longest run of accepted characters, which may be empty. */
  run(accept: (character: string) => boolean): string
  /** Consumes characters that must follow. */
  demand(text: string): void
  /** Returns to an earlier position. */
  back(at: number): void
  readonly ended: boolean
  /** Throws an error. */
  fail(expected: string): never
}

/** Creates a reader of expression constraints. */
export function eclReader(text: string): EclReader {
  let at = 0
  const sees = (wanted: string): boolean => text.startsWith(wanted, at)
  const seesWord = (word: string): boolean =>
    text.slice(at, at + word.length).toLowerCase() === word && !isLetter(text.charAt(at + word.length))
  const fail = (expected: string): never => {
    const found = at >= text.length ? 'the expression ends' : `there is '${text.slice(at, at + 12)}'`
    throw new EclError(`${expected} was expected, but ${found}`, at)
  }
  const taken = (isNext: boolean, length: number): boolean => {
    if (isNext) at += length
    return isNext
  }
  return {
    get at() {
      return at
    },
    blanks() {
      const start = at
      at = afterBlanks(text, at)
      return at > start
    },
    sees,
    seesWord,
    take: (wanted) => taken(sees(wanted), wanted.length),
    takeWord: (word) => taken(seesWord(word), word.length),
    run(accept) {
      const start = at
      while (at < text.length && accept(text.charAt(at))) at++
      return text.slice(start, at)
    },
    demand: (wanted) => void (taken(sees(wanted), wanted.length) || fail(`'${wanted}'`)),
    back: (place) => void (at = place),
    get ended() {
      return at >= text.length
    },
    fail,
  }
}

/** True for a letter of the English alphabet. */
export function isLetter(character: string): boolean {
  return /^[a-zA-Z]$/.test(character)
}

/** True for a decimal digit. */
export function isDigit(character: string): boolean {
  return character >= '0' && character <= '9' && character.length === 1
}

function afterBlanks(text: string, start: number): number {
  let at = start
  for (;;) {
    while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at++
    if (!text.startsWith('/*', at)) return at
    const end = text.indexOf('*/', at + 2)
    if (end < 0) throw new EclError('The comment does not end', at)
    at = end + 2
  }
}

/** The error for an expression that cannot be parsed, with its position. It never leaves the engine that parses the expression. */
export class EclError extends Error {
  override readonly name: string = 'EclError'
  /** Position in characters, from 0. */
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

/** Maximum nesting of brackets. */
const MAX_DEPTH = 100

/** @throws {EclError} if brackets and braces are nested too deeply to be parsed. */
export function refuseDeepBrackets(text: string): void {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '(' || character === '{') depth++
    else if ((character === ')' || character === '}') && depth > 0) depth--
    if (depth > MAX_DEPTH) throw new EclError('The brackets are nested too deeply', at)
  }
}

/** True if the brackets at this position contain the name of an attribute (a comparison or a filter follows), false for a part of the refinement. */
export function bracketsHoldName(reader: EclReader): boolean {
  const { at } = reader
  passBrackets(reader)
  reader.blanks()
  const isName = reader.seesWord('not') || ['=', '!=', '<', '>', '{{'].some((text) => reader.sees(text))
  reader.back(at)
  return isName
}

function passBrackets(reader: EclReader): void {
  let depth = 0
  do {
    reader.run((character) => !'()"|/'.includes(character))
    if (reader.take('(')) depth++
    else if (reader.take(')')) depth--
    else if (reader.sees('/')) passSlash(reader)
    else if (reader.take('|')) passUntil(reader, '|')
    else if (reader.take('"')) passText(reader)
  } while (depth > 0 && !reader.ended)
}

function passUntil(reader: EclReader, end: string): void {
  reader.run((character) => character !== end)
  reader.take(end)
}

function passText(reader: EclReader): void {
  while (!reader.ended) {
    reader.run((character) => character !== '"' && character !== '\\')
    if (reader.take('"')) return
    if (!reader.take('\\\\') && !reader.take('\\"')) reader.take('\\')
  }
}

function passSlash(reader: EclReader): void {
  if (!reader.blanks()) reader.take('/')
}
