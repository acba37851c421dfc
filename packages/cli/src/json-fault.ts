import { placeIn, readJsonSource } from 'fhir-ops/internal/json'
import { finished } from 'fhir-ops/internal/work'

/** Where a text is not JSON, and why. */
export interface JsonFault {
  /** From 1, of the file in which the text begins. */
  readonly line: number
  /** From 1. */
  readonly column: number
  readonly text: string
}

const MAX_SHOWN = 40

/** The first fault of a text; `undefined` for one that is JSON. @param firstLine Line of its file in which the text begins. */
export function faultIn(text: string, firstLine = 1): JsonFault | undefined {
  if (isJson(text)) return undefined
  const { fault, repairs } = finished(readJsonSource(text))
  const problem = fault ?? repairs[0]
  if (problem === undefined) return undefined
  const { line, column } = placeIn(text, problem.offset)
  return {
    line: line + firstLine - 1,
    column,
    text: problem.token === '' ? 'unexpected end of the text' : `unexpected ${JSON.stringify(problem.token.slice(0, MAX_SHOWN))}`,
  }
}

/** Whether a text is JSON as its specification has it. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
