import { OperationError, quoted } from 'fhir-ops/errors'
import { BANNED_NAMES, isObject, parseInPieces, type JsonObject } from 'fhir-ops/json'
import type { Work } from 'fhir-ops/work'
import { scanJson } from './json-scan.js'

/** Bounds on a JSON body. */
export interface JsonLimits {
  readonly jsonDepth: number
  /** Members of all objects together. */
  readonly jsonMembers: number
  /** Characters of one string; base64 content is exempt. */
  readonly stringLength: number
}

/** Members that hold base64 content. */
const BASE64: ReadonlySet<string> = new Set(['data', 'valueBase64Binary'])

/**
 * Parses a JSON body that is an object (section 5 of the security requirements): its depth is bounded before it is parsed, and a member
 * twice, a member named like an object's internals, a lone surrogate, a NUL and a number that is not finite are refused.
 *
 * @param text Decoded UTF-8.
 * @throws {OperationError} `body-invalid` when it is not JSON or has a member twice; `body-structure` when it is not an object or has a
 *   refused name or value; `parameter-too-long` when a string, or the number of members, is over its limit.
 */
export function* readingJsonBody(text: string, limits: JsonLimits): Work<JsonObject> {
  const { depth, colons } = scanJson(text)
  if (depth > limits.jsonDepth) throw new OperationError('body-invalid', `The body is nested deeper than ${limits.jsonDepth} levels.`)
  if (colons > limits.jsonMembers) throw new OperationError('parameter-too-long', `The body has more than ${limits.jsonMembers} members.`)
  yield
  const value = yield* parsed(text)
  yield
  if ((yield* checkedMembers(value, limits)) !== colons)
    throw new OperationError('body-invalid', 'The body has a member twice in one object.')
  if (!isObject(value)) throw new OperationError('body-structure', 'The body must be a JSON object.')
  return value
}

/** V8's message quotes the body, so it goes no further than `cause`. */
function* parsed(text: string): Work<unknown> {
  try {
    return yield* parseInPieces(text)
  } catch (cause) {
    throw new OperationError('body-invalid', 'The body is not well-formed JSON.', { cause })
  }
}

/** Arrays and objects that are looked into, and names of one object, before others may run. */
const PORTION = 5_000

/** Checks every name and value; the number of members. */
function* checkedMembers(root: unknown, limits: JsonLimits): Work<number> {
  const open: object[] = []
  checkValue(root, limits.stringLength, open)
  let members = 0
  for (let looked = 1; open.length > 0; looked++) {
    if (looked % PORTION === 0) yield
    const value = open.pop()
    if (Array.isArray(value)) for (const item of value) checkValue(item, limits.stringLength, open)
    else if (isObject(value)) members += yield* checkObject(value, limits, open)
  }
  return members
}

/** The number of the object's own members. */
function* checkObject(object: JsonObject, { stringLength }: JsonLimits, open: object[]): Work<number> {
  const names = Object.keys(object)
  for (const [index, name] of names.entries()) {
    if (index % PORTION === PORTION - 1) yield
    checkName(name)
    checkValue(object[name], BASE64.has(name) ? Infinity : stringLength, open)
  }
  return names.length
}

/** @param open Where arrays and objects are put that are still to be looked into. */
function checkValue(value: unknown, maxLength: number, open: object[]): void {
  if (typeof value === 'string') checkString(value, maxLength)
  else if (typeof value === 'number') checkNumber(value)
  else if (typeof value === 'object' && value !== null) open.push(value)
}

function checkName(name: string): void {
  if (BANNED_NAMES.has(name)) throw new OperationError('body-structure', `The member name ${quoted(name)} is not allowed.`)
  checkText(name)
}

function checkString(text: string, maxLength: number): void {
  if (text.length > maxLength) throw new OperationError('parameter-too-long', `A text in the body is longer than ${maxLength} characters.`)
  checkText(text)
}

function checkText(text: string): void {
  if (!text.isWellFormed()) throw new OperationError('body-structure', 'A text in the body is not well-formed Unicode.')
  if (text.includes('\u0000')) throw new OperationError('body-structure', 'A text in the body has the character U+0000.')
}

function checkNumber(value: number): void {
  if (!Number.isFinite(value)) throw new OperationError('body-structure', 'A number in the body is too large.')
}
