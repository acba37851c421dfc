import { OperationError, quoted } from '../errors/index.js'
import { isObject, stringAt, type JsonObject } from '../json/index.js'
import type { OperationHeader } from '../operation/index.js'
import { parametersFromQuery, type Parameter } from '../parameters/index.js'
import { withNearest } from '../text/nearest.js'

const NAME = 'x-validator-options'

/** A header with options of HL7's validator, as a JSON object. Each option sets parameters of `$validate`; unknown options are refused. */
export const OPTIONS_HEADER: OperationHeader = { name: NAME, parameters }

/** @throws {OperationError} `parameter-value` when the header is not a JSON object, or has an option or a value that is not known or not supported. */
function parameters(text: string): readonly Parameter[] {
  const pairs = Object.entries(optionsIn(text)).flatMap(([name, value]) => {
    const read = OPTIONS.get(plain(name))?.read
    if (read !== undefined) return read(value, name)
    if (PASSED_OVER.has(plain(name))) return []
    const known = [...OPTIONS.values()].map((option) => option.name)
    const message = withNearest(`The option ${quoted(name)} in ${NAME} is not supported; supported are ${known.join(', ')}.`, name, known)
    throw new OperationError('parameter-value', message)
  })
  const distinct = new Map(pairs.map((pair) => [pair.join(' '), pair] as const))
  return parametersFromQuery([...distinct.values()])
}

/** The name of an option without what differs between the validator's tests (`best-practice`) and its HTTP service (`bestPractice`). */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}

type Pair = readonly [name: string, value: string]
type ReadOption = (value: unknown, name: string) => readonly Pair[]

const EXTENSIONS: ReadOption = (value, name) =>
  textsIn(value, name).map((domain) => (domain === 'any' ? ['rule', 'extension-unknown=off'] : ['extensionDomain', domain]))
const MUST_SUPPORT = flag((isOn) => [['mustSupport', isOn ? 'unmarked' : 'off']])
const EXAMPLES = when(false, ['refuse', 'examples'])

/** The options that the validator's tests, its HTTP service and its command line have, with what they mean here; some have several names. */
const OPTIONS: ReadonlyMap<string, { readonly name: string; readonly read: ReadOption }> = new Map(
  Object.entries<ReadOption>({
    'best-practice': choice('bestPractice', { ignore: 'off', hint: 'information', warning: 'warning', error: 'error' }),
    level: choice('level', { hints: 'information', warnings: 'warning', errors: 'error' }),
    questionnaire: choice('questionnaire', { none: 'off', check: 'check', required: 'required' }),
    validateReference: choice('validateReferences', {
      ignore: 'off',
      check_type_if_exists: 'off',
      check_exists: 'exists',
      check_exists_and_type: 'exists',
      check_valid: 'profile',
    }),
    validateContains: choice('validateContained', { ignore: 'false', check_valid: 'true' }),
    assumeValidRestReferences: same('assumeValidRestReferences'),
    enforceAggregationOutsideBundles: same('enforceAggregationOutsideBundles'),
    'for-publication': same('forPublication'),
    'allow-comments': same('allowComments'),
    'extensible-binding-warnings': same('extensibleBindingWarnings'),
    'no-extensible-binding-warnings': flag((isOn) => [['extensibleBindingWarnings', String(!isOn)]]),
    'wrong-displays': choice('wrongDisplays', { error: 'error', warning: 'warning' }),
    'display-issues-are-warnings': flag((isOn) => [['wrongDisplays', isOn ? 'warning' : 'error']]),
    'security-checks': when(true, ['refuse', 'markup']),
    noHtmlInMarkdown: when(true, ['refuse', 'markdown']),
    'html-in-markdown': choices({ ignore: [['rule', 'markdown-html=off']], warning: [], error: [['refuse', 'markdown']] }),
    examples: EXAMPLES,
    'allow-example-urls': EXAMPLES,
    'no-experimental-content': when(true, ['refuse', 'experimental']),
    'allowed-extension-domain': EXTENSIONS,
    extension: EXTENSIONS,
    'must-support': MUST_SUPPORT,
    hintAboutNonMustSupport: MUST_SUPPORT,
    'resource-id-rule': choice('resourceId', { optional: 'optional', required: 'required', prohibited: 'prohibited' }),
    bundle: bundleRules,
    profile: (value, name) => textsIn(value, name).map((canonical) => ['profile', canonical] as const),
    'no-invariants': when(true, ['rule', 'invariant=off']),
    'unknown-codesystems-cause-errors': when(true, ['rule', 'code-system-unknown=error']),
    'no-unicode-bidi-control-chars': when(true, ['rule', 'string-control=error']),
    verbose: when(true, ['_explain', 'true']),
  }).map(([name, read]) => [plain(name), { name, read }]),
)

/**
 * Options that are ignored because they change no finding here. They concern the texts of HL7's validator (`language`, `idsinerrors`), its sources and
 * what it has loaded (`fetcher`, `certificate`, `sct`) and asks (`notx`: no terminology server is asked here), what it adds to its answers
 * (`showmessageids`: each finding has its kind here), or leave out findings by its own message ids (`advisor`).
 */
const PASSED_OVER: ReadonlySet<string> = new Set(
  'language idsinerrors fetcher certificate certificatecontent sct notx advisor advisorcontent showmessageids wantinvariantsinmessages showreferencemessages txrouting'.split(
    ' ',
  ),
)

/** Rules for entries of Bundles: an object with `rule` and `profile`, or a list of such. */
function bundleRules(value: unknown, name: string): readonly Pair[] {
  return [value].flat().map((one) => {
    const [rule, profile] = [stringAt(isObject(one) ? one : undefined, 'rule'), stringAt(isObject(one) ? one : undefined, 'profile')]
    if (rule === undefined || profile === undefined || rule.includes('='))
      throw wrong(name, value, 'a list of {"rule", "profile"}, like Patient:0')
    return ['bundle', `${rule}=${profile}`] as const
  })
}

/** An option that matters only with one value. */
function when(needed: boolean, pair: Pair): ReadOption {
  return flag((isOn) => (isOn === needed ? [pair] : []))
}

/** A boolean option that is a parameter of another name. */
function same(parameter: string): ReadOption {
  return flag((isOn) => [[parameter, String(isOn)]])
}

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
  return choices(Object.fromEntries(Object.entries(values).map(([value, own]) => [value, [[parameter, own]]])))
}

/** @param values Maps the option's values, in lower case, to the parameters that they set. */
function choices(values: Readonly<Record<string, readonly Pair[]>>): ReadOption {
  const known = new Map(Object.entries(values))
  return (value, name) => {
    const found = typeof value === 'string' ? known.get(value.toLowerCase()) : undefined
    if (found === undefined) throw wrong(name, value, `one of ${[...known.keys()].join(', ')}`)
    return found
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
