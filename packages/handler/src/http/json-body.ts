import { OperationError, quoted } from 'fhir-ops/errors'
import { isObject, type JsonObject } from 'fhir-ops/json'
import { scanJson } from './json-scan.js'

/** Bounds on a JSON body. */
export interface JsonLimits {
  readonly jsonDepth: number
  /** Members of all objects together. */
  readonly jsonMembers: number
  /** Characters of one string; base64 content is exempt. */
  readonly stringLength: number
}

const BANNED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
/** Members that hold base64 content. */
const BASE64: ReadonlySet<string> = new Set(['data', 'valueBase64Binary'])

/**
 * Parses a JSON body that is an object (section 5 of the security requirements): its depth is bounded before it is parsed, and a member
 * twice, a member named like an object's internals, a lone surrogate, a NUL and a number that is not finite are refused.
 *
 * @param text Decoded UTF-8.
 * @throws {OperationError} `body-invalid` when it is no JSON or has a member twice; `body-structure` when it is no object or has a
 *   refused name or value; `parameter-too-long` when a string, or the number of members, is over its limit.
 */
export function readJsonBody(text: string, limits: JsonLimits): JsonObject {
  const value = readJson(text, limits)
  if (!isObject(value)) throw new OperationError('body-structure', 'The body must be a JSON object.')
  return value
}

/** As `readJsonBody`, for any JSON value. */
export function readJson(text: string, limits: JsonLimits): unknown {
  const { depth, colons } = scanJson(text)
  if (depth > limits.jsonDepth) throw new OperationError('body-invalid', `The body is nested deeper than ${limits.jsonDepth} levels.`)
  if (colons > limits.jsonMembers) throw new OperationError('parameter-too-long', `The body has more than ${limits.jsonMembers} members.`)
  const value = parsed(text)
  if (walk(value, limits) !== colons) throw new OperationError('body-invalid', 'The body has a member twice in one object.')
  return value
}

/** V8's message quotes the body, so it goes no further than `cause`. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new OperationError('body-invalid', 'The body is not well-formed JSON.', { cause })
  }
}

/** Checks every name and value; the number of members. */
function walk(value: unknown, limits: JsonLimits): number {
  if (typeof value === 'string') checkString(value, limits.stringLength)
  if (typeof value === 'number') checkNumber(value)
  if (Array.isArray(value)) return value.reduce((members: number, item) => members + walk(item, limits), 0)
  return isObject(value) ? walkObject(value, limits) : 0
}

function walkObject(object: JsonObject, limits: JsonLimits): number {
  const names = Object.keys(object)
  let members = names.length
  for (const name of names) {
    checkName(name)
    members += walk(object[name], BASE64.has(name) ? { ...limits, stringLength: Infinity } : limits)
  }
  return members
}

function checkName(name: string): void {
  if (BANNED.has(name)) throw new OperationError('body-structure', `The member name ${quoted(name)} is not allowed.`)
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
