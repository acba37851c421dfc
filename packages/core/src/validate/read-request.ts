import type { Pace, ValidationPolicy } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { isObject, readJsonSource, stringAt, type JsonProblem, type JsonSource } from '../json/index.js'
import type { OperationRequest } from '../operation/index.js'
import { parameterReader, parametersOf, type Parameter, type ParameterReader } from '../parameters/index.js'

/** The parsed request of a `$validate` call. */
export interface ValidateRequest {
  /** Absent to validate the stored resource. */
  readonly source?: JsonSource | undefined
  readonly mode?: ValidateMode | undefined
  readonly profiles: readonly string[]
  /** Report line and column in the body for each issue. */
  readonly places: boolean
  /** Report which profiles and value sets the resource was checked against. */
  readonly explain: boolean | undefined
  readonly policy: Omit<ValidationPolicy, 'suppress' | 'rules'>
}

const MODES = ['create', 'update', 'delete', 'profile'] as const
const LEVELS = ['information', 'warning', 'error'] as const
const REFUSALS = ['markup', 'markdown', 'examples'] as const

/** @see https://hl7.org/fhir/R4/valueset-resource-validation-mode.html */
export type ValidateMode = (typeof MODES)[number]

/**
 * Reads a request. The body is the resource itself, or Parameters with `resource`, `mode`, `profile`, `places` and the options; all of these except
 * `resource` may also be in the query.
 *
 * @throws {OperationError} `parameter-value` for an unknown mode or level, `body-structure` for a resource whose type differs from the path's.
 */
export async function readRequest(pace: Pace, request: OperationRequest): Promise<ValidateRequest> {
  const { source, parameters } = await bodyOf(pace, request, { positions: false })
  if (source !== undefined) refuseOtherType(source, request.type)
  const options = readOptions([...request.parameters, ...parameters])
  return { source: options.places ? (await bodyOf(pace, request, { positions: true })).source : source, ...options }
}

interface Body {
  readonly source: JsonSource | undefined
  readonly parameters: readonly Parameter[]
}

async function bodyOf(pace: Pace, { type, bodyText = '' }: OperationRequest, { positions }: { positions: boolean }): Promise<Body> {
  if (bodyText === '') return { source: undefined, parameters: [] }
  const body = await pace.run(readJsonSource(bodyText, { positions, byteOrderMark: false }))
  return unwrapped(body, type) ?? { source: body, parameters: [] }
}

function readOptions(parameters: readonly Parameter[]): Omit<ValidateRequest, 'source'> {
  const reader = parameterReader(parameters)
  const options = {
    mode: oneOf(MODES, 'mode', reader.text('mode')),
    profiles: reader.texts('profile'),
    places: reader.boolean('places') ?? false,
    explain: reader.boolean('_explain'),
    policy: readPolicy(reader),
  }
  reader.resource('resource')
  reader.all('_format', '_pretty')
  reader.refuseUnknown()
  return options
}

function readPolicy(reader: ParameterReader): ValidateRequest['policy'] {
  return {
    bestPractice: oneOf(['off', ...LEVELS], 'bestPractice', reader.text('bestPractice')),
    refuse: reader.texts('refuse').flatMap((text) => oneOf(REFUSALS, 'refuse', text) ?? []),
    level: oneOf(LEVELS, 'level', reader.text('level')),
    validateReferences: oneOf(['off', 'exists', 'profile'], 'validateReferences', reader.text('validateReferences')),
    assumeValidRestReferences: reader.boolean('assumeValidRestReferences'),
    allowComments: reader.boolean('allowComments'),
    questionnaire: oneOf(['off', 'check', 'required'], 'questionnaire', reader.text('questionnaire')),
    extensibleBindingWarnings: reader.boolean('extensibleBindingWarnings'),
    enforceAggregationOutsideBundles: reader.boolean('enforceAggregationOutsideBundles'),
    validateContained: reader.boolean('validateContained'),
    extensionDomains: reader.texts('extensionDomain'),
    vitalSigns: oneOf(['category', 'code'], 'vitalSigns', reader.text('vitalSigns')),
  }
}

function oneOf<T extends string>(known: readonly T[], name: string, text: string | undefined): T | undefined {
  const value = known.find((one) => one === text)
  if (text === undefined || value !== undefined) return value
  throw new OperationError('parameter-value', `Parameter ${name} is ${quoted(text)}, but must be one of ${known.join(', ')}.`, {
    expression: [name],
  })
}

/**
 * The resource and the other parameters in a Parameters body. At `Parameters/$validate`, the body itself is the resource, unless it contains Parameters
 * as `resource`.
 */
function unwrapped(body: JsonSource, type: string): Body | undefined {
  if (!isObject(body.value) || body.value['resourceType'] !== 'Parameters') return undefined
  const source = sourceIn(body, body.value['parameter'])
  if (type === 'Parameters' && !(isObject(source?.value) && source.value['resourceType'] === 'Parameters')) return undefined
  return { source, parameters: parametersOf(body.value) }
}

function sourceIn(body: JsonSource, list: unknown): JsonSource | undefined {
  const items: readonly unknown[] = Array.isArray(list) ? list : []
  for (const [index, item] of items.entries()) {
    if (!isObject(item) || item['name'] !== 'resource' || !isObject(item['resource'])) continue
    const start = body.positions.get(item)?.get('resource') ?? 0
    return { ...body, value: item['resource'], start, repairs: repairsWithin(body.repairs, index) }
  }
  return undefined
}

function repairsWithin(repairs: readonly JsonProblem[], index: number): readonly JsonProblem[] {
  return repairs
    .filter(({ path }) => path[0] === 'parameter' && path[1] === index && path[2] === 'resource')
    .map((problem) => ({ ...problem, path: problem.path.slice(3) }))
}

function refuseOtherType({ value }: JsonSource, type: string): void {
  const own = isObject(value) ? stringAt(value, 'resourceType') : undefined
  if (own === undefined || own === type) return
  throw new OperationError('body-structure', `The resource is ${quoted(own)}, but the path says ${quoted(type)}.`, {
    expression: ['resourceType'],
  })
}
