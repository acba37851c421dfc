import { OperationError } from 'fhir-ops/errors'
import { firstProblem, placeIn, readJsonSource } from 'fhir-ops/internal/json'
import { finished } from 'fhir-ops/internal/work'

/** Where and why a text is not JSON. */
export interface JsonFault {
  /** Line from 1, counted in the file in which the text begins. */
  readonly line: number
  /** Column from 1. */
  readonly column: number
  readonly text: string
}

const MAX_SHOWN = 40

/** Returns the first syntax error of a text; `undefined` if it is JSON. @param firstLine Line of the file in which the text begins. */
export function faultIn(text: string, firstLine = 1): JsonFault | undefined {
  if (isJson(text)) return undefined
  const problem = firstProblem(finished(readJsonSource(text)))
  if (problem === undefined) return undefined
  const { line, column } = placeIn(text, problem.offset)
  return { line: line + firstLine - 1, column, text: otherContent(text, problem.offset) ?? unexpected(problem.token) }
}

/**
 * Refuses a text that is not JSON.
 *
 * @param source Name of the text in the error: its file, or `stdin`.
 * @param meant What the text should have been, as words after `not JSON`: `, as ... prints it`.
 * @throws {OperationError} `body-invalid`, with the place of the first syntax error.
 */
export function checkJson(text: string, source: string, meant = ''): void {
  const fault = faultIn(text)
  if (fault === undefined) return
  throw new OperationError('body-invalid', `${source}:${fault.line}:${fault.column} is not JSON${meant}: ${fault.text}.`)
}

/** Says what a text is if it is not meant to be (a single) JSON value; `undefined` for JSON, and for JSON with a syntax error. */
export function otherContentIn(text: string): string | undefined {
  if (isJson(text)) return undefined
  const { fault } = finished(readJsonSource(text))
  return fault === undefined ? undefined : otherContent(text, fault.offset)
}

function unexpected(token: string): string {
  return token === '' ? 'unexpected end of the text' : `unexpected ${JSON.stringify(token.slice(0, MAX_SHOWN))}`
}

function otherContent(text: string, offset: number): string | undefined {
  if (text.trim() === '') return 'it is empty'
  if (offset === text.indexOf('<') && text.slice(0, offset).trim() === '') return 'it is XML or HTML; only JSON is read'
  const before = text.slice(0, offset).trim()
  if (!before.endsWith('}') || !isJson(before)) return undefined
  return text.charAt(offset) === '{'
    ? 'another resource follows the first; a file with one on each line is named .ndjson, others are a Bundle'
    : 'something follows the end of the resource'
}

/** True if a text is strictly valid JSON. */
export function isJson(text: string): boolean {
  return parsedJson(text) !== undefined
}

/** Parses JSON; returns `undefined` for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
