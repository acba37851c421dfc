import { createPace, type OperationContext, type Pace, type RuleSeverity, type ValidationPolicy } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { isObject, objectAt, stringAt, readJsonSource, type JsonProblem, type JsonSource } from '../json/index.js'
import { isHidden, storedInstance, type OperationRequest, type OperationResponse } from '../operation/index.js'
import type { StoredResource } from '../storage/index.js'
import { UPDATE_ID, UPDATE_VERSION } from './finding-kinds.js'
import { toOperationOutcome } from './output.js'
import { findingOf, type Finding } from './run/finding.js'
import { validate, type BundleRule, type ValidateResult } from './validate.js'
import { parameterReader, parametersOf, type Parameter, type ParameterReader } from '../parameters/index.js'

/** Runs `$validate`. @throws {OperationError} as `checkMode`; `parameter-required` when there is nothing to validate. */
export async function runValidate(ctx: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const asked = await readRequest(createPace(ctx), request)
  const findings = await checkMode(ctx, request, asked)
  if (asked.mode === 'delete') return answer(ctx, { valid: true, findings })
  const { source, profiles, bundle, places, policy, explain } = asked
  const resource = source ?? (await storedText(ctx, request))
  const result = await validate(ctx, { ...policy, resource, profiles, bundle, places, explain })
  const valid = result.valid && findings.every(({ severity }) => severity !== 'error')
  return answer(ctx, { ...result, valid, findings: [...findings, ...result.findings] })
}

function answer(ctx: OperationContext, result: ValidateResult): OperationResponse {
  const isUnreadable = result.findings.some(({ severity }) => severity === 'fatal')
  return { status: isUnreadable ? 400 : 200, resource: { ...toOperationOutcome(result, { id: ctx.newId() }) } }
}

/** The text of the stored resource, for a request without one. */
async function storedText(ctx: OperationContext, request: OperationRequest): Promise<string> {
  const stored = await storedInstance(ctx, request)
  if (stored !== undefined) return stored.text
  throw new OperationError('parameter-required', 'There is no resource to validate.', { expression: ['resource'] })
}

/**
 * Refuses requests that do not fit their mode, and reports what would prevent an update. The answer for updates and deletions depends on stored
 * resources, so these modes require the right to read them.
 *
 * @throws {OperationError} `parameter-value` for the mode `create` with an id, `parameter-required` for a parameter that the mode needs, `forbidden` for
 *   a resource that the caller may not read, `not-found` when the resource to delete does not exist.
 * @see https://hl7.org/fhir/R4/valueset-resource-validation-mode.html
 */
async function checkMode(ctx: OperationContext, request: OperationRequest, asked: ValidateRequest): Promise<readonly Finding[]> {
  return asked.mode === undefined ? [] : MODES[asked.mode](ctx, request, asked)
}

type ModeCheck = (ctx: OperationContext, request: OperationRequest, asked: ValidateRequest) => Promise<readonly Finding[]>

const MODES: Readonly<Record<ValidateMode, ModeCheck>> = {
  create: (_, { id }) => {
    if (id !== undefined)
      throw new OperationError('parameter-value', 'Mode create is for a type: the server chooses the id.', { expression: ['mode'] })
    return Promise.resolve([])
  },
  update: updateFindings,
  delete: async (ctx, { type, id }) => {
    if (id === undefined)
      throw new OperationError('parameter-required', 'Mode delete needs the id of what is to be deleted in the path.', {
        expression: ['mode'],
      })
    await storedInstance(ctx, { type, id })
    return []
  },
  profile: (_, __, { profiles }) => {
    if (profiles.length === 0) throw new OperationError('parameter-required', 'Mode profile needs a profile.', { expression: ['profile'] })
    return Promise.resolve([])
  },
}

/** An update concerns the resource in the path or, without an id there, the one that the resource's own id names. */
async function updateFindings(
  ctx: OperationContext,
  { type, id: named }: OperationRequest,
  { source }: ValidateRequest,
): Promise<readonly Finding[]> {
  const resource = isObject(source?.value) ? source.value : undefined
  const own = stringAt(resource, 'id')
  const id = named ?? own
  const isUnknown = id !== undefined && isHidden(ctx, type, id)
  if (resource === undefined) return []
  if (own === undefined || own !== id) return [idFinding(type, { own, id })]
  return versionFindings(stringAt(objectAt(resource, 'meta'), 'versionId'), isUnknown ? undefined : await ctx.storage.read(type, id))
}

function idFinding(type: string, { own, id }: { own: string | undefined; id: string | undefined }): Finding {
  const found = own === undefined ? 'it has none' : `not ${quoted(own)}`
  const text =
    id === undefined
      ? 'A resource for an update must have an id.'
      : `The resource to update ${quoted(id)} with must have that id; ${found}.`
  return findingOf(UPDATE_ID, { text, expression: own === undefined ? type : `${type}.id` })
}

function versionFindings(version: string | undefined, stored: StoredResource | undefined): readonly Finding[] {
  if (version === undefined || stored === undefined || stored.versionId === version) return []
  const text = `The resource is based on version ${quoted(version)}, but the current version is ${quoted(stored.versionId)}.`
  return [findingOf(UPDATE_VERSION, { text, expression: `${stored.type}.meta.versionId` })]
}

/** The parsed request of a `$validate` call. */
interface ValidateRequest {
  /** Absent to validate the stored resource. */
  readonly source?: JsonSource | undefined
  readonly mode?: ValidateMode | undefined
  readonly profiles: readonly string[]
  /** Report line and column in the body for each issue. */
  readonly places: boolean
  /** Report which profiles and value sets the resource was checked against. */
  readonly explain: boolean | undefined
  readonly bundle: readonly BundleRule[]
  readonly policy: Omit<ValidationPolicy, 'suppress'>
}

const MODE_NAMES = ['create', 'update', 'delete', 'profile'] as const
const LEVELS = ['information', 'warning', 'error'] as const
const REFUSALS = ['markup', 'markdown', 'examples', 'experimental'] as const

/** @see https://hl7.org/fhir/R4/valueset-resource-validation-mode.html */
type ValidateMode = (typeof MODE_NAMES)[number]

/**
 * Reads a request. The body is the resource itself, or Parameters with `resource`, `mode`, `profile`, `places` and the options; all of these except
 * `resource` may also be in the query.
 *
 * @throws {OperationError} `parameter-value` for an unknown mode or level, `body-structure` for a resource whose type differs from the path's.
 */
async function readRequest(pace: Pace, request: OperationRequest): Promise<ValidateRequest> {
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
    mode: choiceOf(MODE_NAMES, 'mode', reader.text('mode')),
    profiles: reader.texts('profile'),
    bundle: reader.texts('bundle').map((text) => {
      const [rule, profile] = pairIn(text, 'bundle', 'Patient:0=https://example.org/StructureDefinition/patient')
      return { rule, profile }
    }),
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
    bestPractice: choiceOf(['off', ...LEVELS], 'bestPractice', reader.text('bestPractice')),
    refuse: reader.texts('refuse').flatMap((text) => choiceOf(REFUSALS, 'refuse', text) ?? []),
    level: choiceOf(LEVELS, 'level', reader.text('level')),
    validateReferences: choiceOf(['off', 'exists', 'profile'], 'validateReferences', reader.text('validateReferences')),
    assumeValidRestReferences: reader.boolean('assumeValidRestReferences'),
    allowComments: reader.boolean('allowComments'),
    questionnaire: choiceOf(['off', 'check', 'required'], 'questionnaire', reader.text('questionnaire')),
    extensibleBindingWarnings: reader.boolean('extensibleBindingWarnings'),
    wrongDisplays: choiceOf(['error', 'warning'], 'wrongDisplays', reader.text('wrongDisplays')),
    enforceAggregationOutsideBundles: reader.boolean('enforceAggregationOutsideBundles'),
    forPublication: reader.boolean('forPublication'),
    validateContained: reader.boolean('validateContained'),
    extensionDomains: reader.texts('extensionDomain'),
    vitalSigns: choiceOf(['category', 'code'], 'vitalSigns', reader.text('vitalSigns')),
    resourceId: choiceOf(['optional', 'required', 'prohibited'], 'resourceId', reader.text('resourceId')),
    mustSupport: choiceOf(['off', 'unmarked', 'all'], 'mustSupport', reader.text('mustSupport')),
    ...rulesOf(reader.texts('rule')),
  }
}

/** Kinds of findings with the severity that the caller wants for them, as `invariant=off`. */
function rulesOf(texts: readonly string[]): Pick<ValidationPolicy, 'rules'> {
  if (texts.length === 0) return {}
  const rules = new Map<string, RuleSeverity>()
  for (const text of texts) {
    const [kind, word] = pairIn(text, 'rule', 'invariant=off')
    const severity = choiceOf<RuleSeverity>(['off', ...LEVELS], 'rule', word) ?? 'off'
    const other = rules.get(kind) ?? severity
    if (other !== severity)
      throw new OperationError('parameter-value', `Parameter rule has both ${other} and ${severity} for ${quoted(kind)}.`, {
        expression: ['rule'],
      })
    rules.set(kind, severity)
  }
  return { rules: Object.fromEntries(rules) }
}

/** Splits a text at its first equals sign. */
function pairIn(text: string, name: string, example: string): readonly [string, string] {
  const end = text.indexOf('=')
  if (end > 0 && end < text.length - 1) return [text.slice(0, end), text.slice(end + 1)]
  throw new OperationError('parameter-value', `Parameter ${name} is ${quoted(text)}, but must be like ${quoted(example)}.`, {
    expression: [name],
  })
}

function choiceOf<T extends string>(known: readonly T[], name: string, text: string | undefined): T | undefined {
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
