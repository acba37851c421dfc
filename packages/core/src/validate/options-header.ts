import { OperationError, quoted } from '../errors/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import type { OperationHeader } from '../operation/index.js'
import { parametersFromQuery, type Parameter } from '../parameters/index.js'

const NAME = 'x-validator-options'

/** A header with options of HL7's validator, as a JSON object. Each option sets parameters of `$validate`; unknown options are refused. */
export const OPTIONS_HEADER: OperationHeader = { name: NAME, parameters }

/** @throws {OperationError} `parameter-value` when the header is not a JSON object, or has an option or a value that is not known or not supported. */
function parameters(text: string): readonly Parameter[] {
  const pairs = Object.entries(optionsIn(text)).flatMap(([name, value]) => {
    const read = OPTIONS.get(name)
    if (read !== undefined) return read(value, name)
    if (PASSED_OVER.has(name)) return []
    const known = [...OPTIONS.keys()].join(', ')
    throw new OperationError('parameter-value', `The option ${quoted(name)} in ${NAME} is not supported; supported are ${known}.`)
  })
  const distinct = new Map(pairs.map((pair) => [pair.join(' '), pair] as const))
  return parametersFromQuery([...distinct.values()])
}

type Pair = readonly [name: string, value: string]
type ReadOption = (value: unknown, name: string) => readonly Pair[]

/** Readers of the options, by name in HL7's validator. */
const OPTIONS: ReadonlyMap<string, ReadOption> = new Map<string, ReadOption>([
  ['best-practice', choice('bestPractice', { ignore: 'off', hint: 'information', warning: 'warning', error: 'error' })],
  ['level', choice('level', { hints: 'information', warnings: 'warning', errors: 'error' })],
  ['questionnaire', choice('questionnaire', { none: 'off', check: 'check', required: 'required' })],
  [
    'validateReference',
    choice('validateReferences', {
      ignore: 'off',
      check_type_if_exists: 'off',
      check_exists: 'exists',
      check_exists_and_type: 'exists',
      check_valid: 'profile',
    }),
  ],
  ['validateContains', choice('validateContained', { ignore: 'false', check_valid: 'true' })],
  ['assumeValidRestReferences', flag((isOn) => [['assumeValidRestReferences', String(isOn)]])],
  ['enforceAggregationOutsideBundles', flag((isOn) => [['enforceAggregationOutsideBundles', String(isOn)]])],
  ['for-publication', flag((isOn) => [['forPublication', String(isOn)]])],
  ['allow-comments', flag((isOn) => [['allowComments', String(isOn)]])],
  ['extensible-binding-warnings', flag((isOn) => [['extensibleBindingWarnings', String(isOn)]])],
  ['wrong-displays', choice('wrongDisplays', { error: 'error', warning: 'warning' })],
  ['security-checks', flag((isOn) => (isOn ? [['refuse', 'markup']] : []))],
  ['noHtmlInMarkdown', flag((isOn) => (isOn ? [['refuse', 'markdown']] : []))],
  ['examples', flag((isOn) => (isOn ? [] : [['refuse', 'examples']]))],
  ['no-experimental-content', flag((isOn) => (isOn ? [['refuse', 'experimental']] : []))],
  ['allowed-extension-domain', (value, name) => textsIn(value, name).map((domain) => ['extensionDomain', domain] as const)],
])

/**
 * Options that are ignored because they change no finding here. They concern the texts of HL7's validator (`language`, `ids-in-errors`), its sources and
 * what it has loaded (`fetcher`, `certificate`, `sct`) and asks (`no-tx`: no terminology server is asked here), or leave
 * out findings by its own message ids (`advisor`).
 */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'language',
  'ids-in-errors',
  'fetcher',
  'certificate',
  'certificateContent',
  'sct',
  'no-tx',
  'advisor',
  'advisorContent',
])

/** A boolean option, which may also be given as text. */
function flag(read: (isOn: boolean) => readonly Pair[]): ReadOption {
  return (value, name) => {
    if (value === true || value === 'true') return read(true)
    if (value === false || value === 'false') return read(false)
    throw wrong(name, value, 'true or false')
  }
}

/** @param values Maps the option's values, in lower case, to the parameter's values. */
function choice(parameter: string, values: Readonly<Record<string, string>>): ReadOption {
  const known = new Map(Object.entries(values))
  return (value, name) => {
    const found = typeof value === 'string' ? known.get(value.toLowerCase()) : undefined
    if (found === undefined) throw wrong(name, value, `one of ${[...known.keys()].join(', ')}`)
    return [[parameter, found]]
  }
}

function textsIn(value: unknown, name: string): readonly string[] {
  return [value].flat().map((text) => {
    if (typeof text !== 'string') throw wrong(name, value, 'a text or a list of texts')
    return text
  })
}

function wrong(name: string, value: unknown, wanted: string): OperationError {
  return new OperationError('parameter-value', `${name} in ${NAME} is ${quoted(JSON.stringify(value))}, but must be ${wanted}.`)
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
