import { OperationError } from 'fhir-ops/errors'
import { createPace, type Pace } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import { isObject, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { checkArgument, checkOptions, having, inputShape, ITERABLE, listOf, needed, type InputShape } from 'fhir-ops/internal/input'
import type { OperationContext } from 'fhir-ops/context'
import type { Operation, OperationRequest, OperationResponse } from 'fhir-ops/operation'
import { isResourceType } from 'fhir-ops/storage'
import { resourceTypes } from 'fhir-ops/internal/storage'
import { jsonOf, unavailable, type Answer } from './answer.js'
import { createBreaker, createUpstream, type Pair, type Upstream } from './upstream.js'
import { HTTP_OPTIONS, settingsOf, type HttpStorageOptions } from './options.js'

/** Which operations are delegated to the upstream, and when. */
export interface DelegateOptions extends HttpStorageOptions {
  /** Operation names without the dollar sign, such as `expand`. */
  readonly delegate: readonly string[]
  /**
   * Code systems and canonicals, without versions, that the upstream has: a request that names one of them is sent there directly. Any other request is
   * answered here, and is sent to the upstream only if something it names cannot be found here. Default: none.
   */
  readonly remote?: readonly string[]
}

const OPERATIONS = listOf(having('an operation', ['name', 'run']))
const SHAPE: InputShape = inputShape<DelegateOptions>({ ...HTTP_OPTIONS, delegate: needed(ITERABLE), remote: ITERABLE })

/**
 * Returns the operations, of which those named in `delegate` ask another FHIR server for content that is missing here.
 *
 * @throws {TypeError} for a name that none of the operations has, for an operation whose input is not a Parameters resource, and as `httpStorage`.
 */
export function delegated(operations: readonly Operation[], options: DelegateOptions): readonly Operation[] {
  checkArgument('delegated: operations', operations, OPERATIONS)
  checkOptions('delegated', SHAPE, options)
  const names = new Set(options.delegate)
  for (const name of names) checkName(name, operations)
  const settings = settingsOf(options)
  const breaker = createBreaker(() => performance.now())
  const remote = new Set(options.remote)
  return operations.map((operation) => {
    const { name, run, write: _asText, stream: _inPieces, cacheable: _byContent, ...described } = operation
    if (!names.has(name.slice(1))) return operation
    const ask = async (ctx: OperationContext, request: OperationRequest): Promise<OperationResponse> => {
      const upstream = createUpstream({ ...settings, signal: () => ctx.signal })
      return breaker.run(async () => askUpstream({ upstream, pace: createPace(ctx) }, operation, request))
    }
    const check = (ctx: OperationContext, request: OperationRequest): void => {
      if (!settings.forwardsToken) checkRights(ctx, operation, request)
    }
    return {
      ...described,
      name,
      async run(ctx, request) {
        if (!namesOneOf(remote, request)) return hereFirst(ctx, request, { run, check, ask })
        check(ctx, request)
        return ask(ctx, request)
      },
    }
  })
}

function checkName(name: string, operations: readonly Operation[]): void {
  const named = operations.filter((operation) => operation.name === `$${name}`)
  if (named.some(({ body }) => body === 'text')) throw new TypeError(`The operation ${name} cannot be delegated.`)
  if (named.length > 0) return
  const names = new Set(operations.filter(({ body }) => body !== 'text').map((operation) => operation.name.slice(1)))
  throw new TypeError(`There is no operation ${name} to delegate; there are ${[...names].join(', ')}.`)
}

/**
 * The upstream answers with the rights of this service, so it is asked only for callers who could see all that it looks at.
 *
 * @throws {OperationError} `forbidden`; `not-found` for a resource that the caller must not know of.
 */
function checkRights(ctx: OperationContext, { name, needs }: Operation, { type, id }: OperationRequest): void {
  if (id !== undefined) ctx.authorize?.('read', type, id)
  if (needs.readsData !== true) return
  if (ctx.isPartial === true)
    throw new OperationError('forbidden', `The access token does not allow to ask another server for ${quoted(name)}.`)
  for (const searched of resourceTypes()) {
    ctx.authorize?.('search', searched)
    ctx.authorize?.('read', searched)
  }
}

/** True if any string in the request is one of the names, with or without a version. */
function namesOneOf(names: ReadonlySet<string>, { parameters, body }: OperationRequest): boolean {
  const isNamed = (value: unknown): boolean => {
    if (typeof value === 'string') return names.has(value.split('|')[0] ?? '')
    return typeof value === 'object' && value !== null && Object.values(value).some(isNamed)
  }
  return names.size > 0 && (parameters.some(({ value }) => isNamed(value)) || isNamed(body))
}

interface TwoWays {
  readonly run: Operation['run']
  /** @throws {OperationError} if the upstream must not be asked for this caller. */
  readonly check: (ctx: OperationContext, request: OperationRequest) => void
  readonly ask: (ctx: OperationContext, request: OperationRequest) => Promise<OperationResponse>
}

const NOT_HERE: ReadonlySet<string> = new Set(['not-found', 'definition-not-found', 'content-not-found'])

/** Answers here first. If the content is missing in both places, or the upstream must not be asked, the local error is thrown. */
async function hereFirst(ctx: OperationContext, request: OperationRequest, { run, check, ask }: TwoWays): Promise<OperationResponse> {
  try {
    return await run(ctx, request)
  } catch (missing) {
    if (!(missing instanceof OperationError) || !NOT_HERE.has(missing.code)) throw missing
    try {
      check(ctx, request)
    } catch (error) {
      throw error instanceof OperationError ? missing : error
    }
    try {
      return await ask(ctx, request)
    } catch (error) {
      throw error instanceof OperationError && error.code === 'not-found' ? missing : error
    }
  }
}

async function askUpstream(
  { upstream, pace }: { readonly upstream: Upstream; readonly pace: Pace },
  operation: Operation,
  request: OperationRequest,
): Promise<OperationResponse> {
  const { type, id, method, parameters, body, acceptLanguage } = request
  const address = [type, id, operation.name].filter((part) => part !== undefined && part !== '').join('/')
  const pairs = parameters.flatMap(({ name: parameter, value, type: valueType }): Pair[] =>
    valueType === undefined && typeof value === 'string' ? [[parameter, value]] : [],
  )
  const text = method === 'POST' ? JSON.stringify(body ?? { resourceType: 'Parameters' }) : undefined
  return responseOf(operation, await upstream.operation({ address, pairs, text, acceptLanguage }), pace)
}

/** Checks the answer of the upstream. Details of a refusal are not revealed, and an answer of the wrong type is not passed on. */
async function responseOf({ name, answers }: Operation, answer: Answer, pace: Pace): Promise<OperationResponse> {
  if (answer.status === 404) throw new OperationError('not-found', 'Not found, here or on the upstream server.')
  if (answer.status >= 400) throw new OperationError('unprocessable', `The upstream FHIR server refuses ${quoted(name)} for this request.`)
  if (answer.status !== 200) throw unavailable('sent no whole answer')
  const resource = await jsonOf(answer, pace)
  if (!isResource(resource)) throw unavailable('sent no resource')
  if (answers !== undefined && resource['resourceType'] !== answers) throw unavailable(`sent no ${answers}`)
  await checkAnswer(name, resource, pace)
  return { status: 200, resource }
}

function isResource(resource: JsonObject): boolean {
  const type = stringAt(resource, 'resourceType')
  return type !== undefined && isResourceType(type) && type !== 'OperationOutcome'
}

/** A parameter of an answer as R4 defines it. */
interface Output {
  readonly name: string
  /** True if each answer has it. */
  readonly required?: boolean
  readonly member: `value${string}` | 'part' | 'resource'
  readonly is: (value: unknown) => boolean
  /** Outputs among its parts, or in its Parameters. */
  readonly within?: readonly Output[]
}

const RESULT: Output = { name: 'result', required: true, member: 'valueBoolean', is: (value) => typeof value === 'boolean' }
const MESSAGE: Output = { name: 'message', member: 'valueString', is: isText }
const DISPLAY: Output = { name: 'display', member: 'valueString', is: isText }
const VALIDATION: readonly Output[] = [RESULT, MESSAGE, DISPLAY]
const SUBSUMPTIONS: ReadonlySet<unknown> = new Set(['equivalent', 'subsumes', 'subsumed-by', 'not-subsumed'])

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

/**
 * The outputs that say what the answer is. An answer without them, or with another type of value, would be read as no, or as nothing found.
 *
 * @see https://hl7.org/fhir/R4/terminology-service.html
 */
const OUTPUTS: ReadonlyMap<string, readonly Output[]> = new Map([
  ['$validate-code', VALIDATION],
  // A validation that failed has an OperationOutcome instead.
  [
    '$batch-validate-code',
    [{ name: 'validation', member: 'resource', is: (value) => isOneOf(value, 'Parameters', 'OperationOutcome'), within: VALIDATION }],
  ],
  [
    '$translate',
    [
      RESULT,
      MESSAGE,
      { name: 'match', member: 'part', is: Array.isArray, within: [{ name: 'concept', member: 'valueCoding', is: isObject }] },
    ],
  ],
  ['$subsumes', [{ name: 'outcome', required: true, member: 'valueCode', is: (value) => SUBSUMPTIONS.has(value) }]],
  ['$lookup', [{ name: 'name', member: 'valueString', is: isText }, DISPLAY]],
])

/** Outputs that may be repeated. */
const REPEATED: ReadonlySet<string> = new Set(['match', 'validation'])

/** @throws {OperationError} `storage-unavailable` if the answer of an operation is not what R4 defines, so that it could be mistaken for another. */
async function checkAnswer(operation: string, resource: JsonObject, pace: Pace): Promise<void> {
  if (resource['resourceType'] === 'Parameters') return checkParameters(resource['parameter'] ?? [], OUTPUTS.get(operation) ?? [], pace)
  if (operation !== '$expand') return
  const { expansion } = resource
  if (!isObject(expansion) || !['number', 'undefined'].includes(typeof expansion['total'])) throw unavailable('sent no expansion')
  await checkContains(expansion['contains'] ?? [], pace)
}

async function checkContains(contains: unknown, pace: Pace): Promise<void> {
  if (!Array.isArray(contains)) throw unavailable('sent no expansion')
  for (const code of contains) {
    await pace.step()
    if (!isObject(code) || !isText(code['code'] ?? '')) throw unavailable('sent no expansion')
    if (code['contains'] !== undefined) await checkContains(code['contains'], pace)
  }
}

async function checkParameters(parameters: unknown, outputs: readonly Output[], pace: Pace): Promise<void> {
  if (!Array.isArray(parameters)) throw malformed()
  const seen = new Set<string>()
  for (const parameter of parameters) {
    await pace.step()
    if (!isObject(parameter)) throw malformed()
    const { name } = parameter
    if (typeof name !== 'string') throw malformed()
    const output = outputs.find((one) => one.name === name)
    if (output !== undefined) {
      if (seen.has(name) && !REPEATED.has(name)) throw malformed()
      checkValue(parameter, output)
    }
    seen.add(name)
    const { part, resource } = parameter
    const inner = isOneOf(resource, 'Parameters') ? (resource['parameter'] ?? []) : part
    if (inner !== undefined) await checkParameters(inner, output?.within ?? [], pace)
  }
  if (outputs.some(({ name, required }) => required === true && !seen.has(name))) throw malformed()
}

function checkValue(parameter: JsonObject, { member, is }: Output): void {
  const given = Object.keys(parameter).filter((key) => key.startsWith('value') || key === 'part' || key === 'resource')
  if (given.length !== 1 || given[0] !== member || !is(parameter[member])) throw malformed()
}

function isOneOf(value: unknown, ...types: readonly string[]): value is JsonObject {
  return isObject(value) && types.includes(stringAt(value, 'resourceType') ?? '')
}

function malformed(): OperationError {
  return unavailable('sent no answer to the operation')
}
