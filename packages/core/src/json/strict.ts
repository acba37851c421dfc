import { OperationError, quoted } from '../errors/index.js'
import type { Work } from '../work/index.js'
import { isObject, type JsonObject } from './narrow.js'
import { parseInPieces } from './parse.js'
import { measureJson } from './scan.js'
import { firstProblem, placeIn, readJsonSource } from './source.js'

/** Options of `readStrictJson`. */
export interface StrictJsonOptions {
  /** Maximum nesting of objects and arrays. */
  readonly maxDepth: number
  /**
   * Maximum number of members of all objects. It also limits the number of lists, and the number of strings, numbers, booleans, nulls and empty lists and
   * objects, wherever they are: a list holds any number of them in one member. The three are counted separately.
   */
  readonly maxMembers: number
  /** Maximum length of one string in characters; base64 content (`data`, `valueBase64Binary`) is exempt. Default: unlimited. */
  readonly maxString?: number
  /** Name of the text in error messages. Default `The body`. */
  readonly name?: string
  /** Whether an error states the line and column of a syntax error, in texts up to a megabyte. Default false. */
  readonly places?: boolean
}

/** Length up to which a text is read without yielding. */
const LONG_TEXT = 64 * 1024

/** Length up to which a text is read again to locate a fault. */
const SEARCHED_TEXT = 1024 * 1024

/** Members with base64 content. */
const BASE64: ReadonlySet<string> = new Set(['data', 'valueBase64Binary'])

/** Names of object internals, which are forbidden in untrusted JSON, because code that copies members would change the prototype of the copy. */
const BANNED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Parses untrusted JSON that must be an object. Its depth and its numbers of members and items are checked before it is parsed. Duplicate members,
 * members named like object internals, lone surrogates, U+0000 and numbers that are not finite are rejected.
 *
 * @param text Text without byte order mark.
 * @throws {OperationError} `body-invalid` if the text is not JSON, is nested too deep or has a duplicate member; `body-structure` if it is not an
 *   object or has a forbidden name or value; `parameter-too-long` if a string, or the number of members or items, exceeds its limit.
 */
export function* readStrictJson(text: string, options: StrictJsonOptions): Work<JsonObject> {
  const value = yield* readStrictValue(text, options)
  if (!isObject(value)) throw new OperationError('body-structure', `${options.name ?? 'The body'} must be a JSON object.`)
  return value
}

/** Parses untrusted JSON as `readStrictJson` does, but accepts any value. */
export function* readStrictValue(text: string, options: StrictJsonOptions): Work<unknown> {
  const { maxDepth, maxMembers, maxString = Infinity, name = 'The body', places = false } = options
  const { depth, members, lists, leaves } = yield* measureJson(text, { numbers: false })
  if (depth > maxDepth) throw new OperationError('body-invalid', `${name} is nested deeper than ${maxDepth} levels.`)
  if (Math.max(members, lists, leaves) > maxMembers)
    throw new OperationError('parameter-too-long', `${name} has more than ${maxMembers} members or items of lists.`)
  const isLong = text.length > LONG_TEXT
  if (isLong) yield
  const value = yield* parsed(text, name, places)
  if (isLong) yield
  const isPlain = !text.includes('\\') && text.isWellFormed()
  if ((yield* checkedMembers(value, { name, maxString, isPlain, open: [] })) !== members)
    throw new OperationError('body-invalid', `${name} has a member twice in one object${yield* faultPlace(text, places)}.`)
  return value
}

/** The engine's error message quotes the text, so it is only kept in `cause`. */
function* parsed(text: string, name: string, places: boolean): Work<unknown> {
  try {
    return yield* parseInPieces(text)
  } catch (cause) {
    throw new OperationError('body-invalid', `${name} is not well-formed JSON${otherContent(text) ?? (yield* faultPlace(text, places))}.`, {
      cause,
    })
  }
}

/** Describes a text that is obviously not JSON. */
function otherContent(text: string): string | undefined {
  const start = text.trimStart()[0]
  if (start === undefined) return ': it is empty'
  return start === '<' ? ': it is XML or HTML' : undefined
}

/** Position of the fault for a message, without an excerpt of the text. */
function* faultPlace(text: string, places: boolean): Work<string> {
  const problem = places && text.length <= SEARCHED_TEXT ? firstProblem(yield* readJsonSource(text)) : undefined
  if (problem === undefined) return ''
  const { line, column } = placeIn(text, problem.offset)
  return `: line ${line}, column ${column}`
}

/** Number of arrays and objects, or of names of one object, that are checked before yielding. */
const PORTION = 5_000

interface Checking {
  /** Name of the text in error messages. */
  readonly name: string
  readonly maxString: number
  /** True if no string can contain a lone surrogate or U+0000. JSON allows the latter only as an escape. */
  readonly isPlain: boolean
  /** Arrays and objects still to be checked. */
  readonly open: object[]
}

/** Checks every name and value. Returns the number of members. */
function* checkedMembers(root: unknown, checking: Checking): Work<number> {
  const { open } = checking
  checkValue(root, checking.maxString, checking)
  let members = 0
  for (let looked = 1; open.length > 0; looked++) {
    if (looked % PORTION === 0) yield
    const value = open.pop()
    if (Array.isArray(value)) for (const item of value) checkValue(item, checking.maxString, checking)
    else if (isObject(value)) {
      const names = Object.keys(value)
      members += names.length
      if (names.length > PORTION) yield* checkManyMembers(value, names, checking)
      else checkMembers(value, names, checking)
    }
  }
  return members
}

function* checkManyMembers(object: JsonObject, names: readonly string[], checking: Checking): Work<void> {
  for (let from = 0; from < names.length; from += PORTION) {
    checkMembers(object, names.slice(from, from + PORTION), checking)
    yield
  }
}

function checkMembers(object: JsonObject, names: readonly string[], checking: Checking): void {
  for (const name of names) {
    if (BANNED_NAMES.has(name)) throw new OperationError('body-structure', `The member name ${quoted(name)} is not allowed.`)
    checkText(name, checking)
    checkValue(object[name], BASE64.has(name) ? Infinity : checking.maxString, checking)
  }
}

function checkValue(value: unknown, maxString: number, checking: Checking): void {
  if (typeof value === 'object') {
    if (value !== null) checking.open.push(value)
  } else if (typeof value === 'string') {
    if (value.length > maxString)
      throw new OperationError('parameter-too-long', `A text in ${lower(checking.name)} is longer than ${maxString} characters.`)
    checkText(value, checking)
  } else if (typeof value === 'number' && !Number.isFinite(value))
    throw new OperationError('body-structure', `A number in ${lower(checking.name)} is too large.`)
}

function checkText(text: string, { name, isPlain }: Checking): void {
  if (isPlain) return
  if (!text.isWellFormed()) throw new OperationError('body-structure', `A text in ${lower(name)} is not well-formed Unicode.`)
  if (text.includes('\u0000')) throw new OperationError('body-structure', `A text in ${lower(name)} has the character U+0000.`)
}

function lower(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}
