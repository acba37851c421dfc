import { OperationError, quoted } from '../errors/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import type { OperationHeader } from '../operation/index.js'
import { parametersFromQuery, type Parameter } from '../parameters/index.js'

const NAME = 'x-validator-options'

/**
 * Options of HL7's validator in a header, as a JSON object: those that ask for more are read as parameters of `$validate`. All others are
 * ignored: they are about the surroundings of that validator, or take away what is checked.
 */
export const OPTIONS_HEADER: OperationHeader = { name: NAME, parameters }

/** @throws {OperationError} `parameter-value` when the header is not a JSON object, or a severity is not known. */
function parameters(text: string): readonly Parameter[] {
  const options = optionsIn(text)
  const refusals = new Set(REFUSALS.flatMap(([name, value, refusal]) => (isSaid(options[name], value) ? [refusal] : [])))
  return parametersFromQuery([...bestPracticeIn(options), ...[...refusals].map((refusal) => ['refuse', refusal] as const)])
}

const REFUSALS = [
  ['security-checks', true, 'markup'],
  ['noHtmlInMarkdown', true, 'markup'],
  ['examples', false, 'examples'],
] as const

/** A switch may also be a text. */
function isSaid(option: unknown, value: boolean): boolean {
  return option === value || option === String(value)
}

const SEVERITIES: ReadonlyMap<string, string> = new Map([
  ['ignore', 'off'],
  ['hint', 'information'],
  ['warning', 'warning'],
  ['error', 'error'],
])

function bestPracticeIn(options: JsonObject): readonly (readonly [string, string])[] {
  const option = options['best-practice']
  if (option === undefined) return []
  const severity = typeof option === 'string' ? SEVERITIES.get(option.toLowerCase()) : undefined
  if (severity !== undefined) return [['bestPractice', severity]]
  const known = [...SEVERITIES.keys()].join(', ')
  throw new OperationError('parameter-value', `best-practice in ${NAME} is ${quoted(JSON.stringify(option))}, but must be one of ${known}.`)
}

function optionsIn(text: string): JsonObject {
  try {
    const options: unknown = JSON.parse(text)
    if (isObject(options)) return options
  } catch (cause) {
    throw new OperationError('parameter-value', `The header ${NAME} is not JSON.`, { cause })
  }
  throw new OperationError('parameter-value', `The header ${NAME} is not a JSON object.`)
}
