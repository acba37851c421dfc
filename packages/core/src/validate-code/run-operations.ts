import { OperationError, outcomeOf, quoted } from '../errors/index.js'
import { canonicalOf, withoutVersion } from '../content/index.js'
import { checkpoint, createPace, forRequest, type OperationContext, type Pace } from '../context/index.js'
import type { LooseCodeInput } from '../input/index.js'
import type { JsonObject } from '../json/index.js'
import { storedInstance, type OperationRequest, type OperationResponse } from '../operation/index.js'
import { parameterReader, parametersOf, placedIn, type Parameter, type ParameterReader } from '../parameters/index.js'
import { ignoreUnknown, readLanguages, readTerminologyCall, readValueSetName, readVersionRules } from '../terminology/index.js'
import { givenValue, type LooseCodeSystemInput, type LooseValueSetInput, type ValidateCodeOptions } from './input.js'
import { toParameters } from './result.js'
import { answerInSystem } from './validate-code-in-system.js'
import { answerInValueSet } from './validate-code.js'

/** Runs `CodeSystem/$validate-code`. @throws {OperationError} as `readCodeSystemInput` and `answerInSystem`. */
export async function runInSystem(base: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { ctx, input } = await readTerminologyCall(base, request, readCodeSystemInput)
  const { version, ...asked } = input
  return { status: 200, resource: { ...toParameters(await answerInSystem(ctx, asked, version)) } }
}

/** Runs `ValueSet/$validate-code`. @throws {OperationError} as `readValueSetInput` and `answerInValueSet`. */
export async function runInValueSet(base: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { ctx, input } = await readTerminologyCall(base, request, readValueSetInput)
  return { status: 200, resource: { ...toParameters(await answerInValueSet(ctx, input)) } }
}

/** @throws {OperationError} as `readOptions` and `readValueSetName`. */
async function readValueSetInput(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<LooseValueSetInput> {
  const options = readOptions(request, reader)
  return {
    ...options,
    ...(await readValueSetName(ctx, request, reader)),
    inferSystem: reader.boolean('inferSystem', 'implySystem') ?? (isNamedByContext(reader, options) ? true : undefined),
    membershipOnly: reader.boolean('valueset-membership-only'),
  }
}

/** In R4, a code needs no system where `context` is given. */
function isNamedByContext(reader: ParameterReader, { code, system }: LooseCodeInput): boolean {
  return code !== undefined && system === undefined && reader.text('context') !== undefined
}

/** A call of `CodeSystem/$validate-code`. */
type CodeSystemCall = Omit<LooseCodeSystemInput, 'version'> & {
  /** Version of the code system for codings without a version. */
  readonly version: string | undefined
}

/** @throws {OperationError} as `readOptions`; `not-found` for an unknown id; `parameter-invalid` for another code system together with an id. */
async function readCodeSystemInput(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<CodeSystemCall> {
  const [url, codeSystem] = [reader.text('url', 'system'), reader.resource('codeSystem')]
  const stored = (await storedInstance(ctx, request))?.resource
  if (stored !== undefined) refuseOther(stored, { url, codeSystem })
  const version = reader.text('version', 'systemVersion')
  refuseOtherVersion(reader, url, version)
  return { ...readOptions(request, reader), url, version, codeSystem: codeSystem ?? stored }
}

function refuseOtherVersion(reader: ParameterReader, url: string | undefined, version: string | undefined): void {
  const stated = url === undefined ? undefined : canonicalOf(url).version
  if (stated === undefined || version === undefined || stated === version) return
  throw new OperationError(
    'parameter-invalid',
    `The code system is named with version ${quoted(stated)}, and version is ${quoted(version)}.`,
    {
      expression: [reader.expressionOf('version')],
    },
  )
}

function refuseOther(stored: JsonObject, { url, codeSystem }: Pick<LooseCodeSystemInput, 'url' | 'codeSystem'>): void {
  if (codeSystem === undefined && (url === undefined || withoutVersion(url) === stored['url'])) return
  throw new OperationError('parameter-invalid', 'Another code system cannot be given where the path names one.', {
    expression: [codeSystem === undefined ? 'url' : 'codeSystem'],
  })
}

/**
 * Reads the parameters that both kinds of validation share.
 *
 * @throws {OperationError} `parameter-required` without a code; `source-ambiguous` for more than one of code, coding and codeableConcept;
 *   `parameter-unsupported` for `date`; `parameter-value` and `parameter-invalid` for malformed inputs.
 */
function readOptions(request: OperationRequest, reader: ParameterReader): LooseCodeInput & ValidateCodeOptions {
  reader.refuse('date')
  return {
    ...readCode(reader),
    lenientDisplay: readLenience(reader),
    abstract: reader.boolean('abstract'),
    activeOnly: reader.boolean('activeOnly'),
    useSupplement: reader.texts('useSupplement'),
    ...readLanguages(reader, request),
    rules: readVersionRules(reader),
    explain: reader.boolean('_explain'),
  }
}

const LENIENT = 'lenient-display-validation'

/** HL7's clients send it as the value of `mode` too. @throws {OperationError} `parameter-unsupported` for another mode. */
function readLenience(reader: ParameterReader): boolean | undefined {
  const [stated, mode] = [reader.boolean(LENIENT), reader.text('mode')]
  if (mode !== undefined && mode !== LENIENT) reader.refuse('mode')
  return stated ?? (mode === undefined ? undefined : true)
}

/** `system`, `systemVersion` and `display` belong to `code`; with a coding they are ignored. */
function readCode(reader: ParameterReader): LooseCodeInput {
  const [codeableConcept, coding] = [reader.object('CodeableConcept', 'codeableConcept'), reader.object('Coding', 'coding')]
  const [system, version, code] = [reader.text('system'), reader.text('systemVersion'), reader.text('code')]
  // An empty form field means that there is no display.
  const display = reader.freeText('display') || undefined
  const input = { code, coding, codeableConcept, ...(code !== undefined && { system, version, display }) }
  givenValue(input)
  return input
}

const SLOT = 'validation'
/** Share of the time limit that is reserved for writing the answer. */
const WRITING = 0.1

/** Runs `$batch-validate-code` of either type. @throws {OperationError} as `checkBatch`; an error of a single validation becomes its answer. */
export async function runBatch(base: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const ctx = withinTime(base)
  // Those for which no time is left are refused one by one, while others run.
  const pace = createPace({ ...ctx, deadline: undefined })
  const shared = request.parameters.filter(({ name }) => name !== SLOT)
  checkBatch(request, shared)
  const answers: JsonObject[] = []
  for (const validation of request.parameters.filter(({ name }) => name === SLOT)) {
    answers.push({ name: SLOT, resource: await oneAnswer(ctx, request, { shared, validation, pace }) })
  }
  return { status: 200, resource: { resourceType: 'Parameters', parameter: answers } }
}

/** Allowed parameters besides the validations: all that validations read. They apply to each validation without its own. */
const SHARED: ReadonlySet<string> = new Set(
  `url valueSet valueSetVersion codeSystem version context code system systemVersion display coding codeableConcept date inferSystem implySystem
  valueset-membership-only lenient-display-validation mode abstract activeOnly useSupplement displayLanguage force-system-version
  check-system-version system-version default-valueset-version force-valueset-version check-valueset-version tx-resource _explain`.split(
    /\s+/,
  ),
)

/** @throws {OperationError} `parameter-invalid` for an unknown parameter in a strict request; `parameter-required` without validations. */
function checkBatch(request: OperationRequest, shared: readonly Parameter[]): void {
  const reader = parameterReader(shared)
  reader.all(...SHARED)
  ignoreUnknown(request, reader)
  if (shared.length === request.parameters.length)
    throw new OperationError('parameter-required', `Parameter '${SLOT}' is required: a Parameters resource for each validation.`, {
      expression: [SLOT],
    })
}

/** Sets one time limit for all validations. */
function withinTime(base: OperationContext): OperationContext {
  const ctx = forRequest(base, {})
  return ctx.deadline === undefined ? ctx : { ...ctx, deadline: ctx.deadline - WRITING * ctx.limits.operationTimeoutMs }
}

interface OneValidation {
  readonly shared: readonly Parameter[]
  readonly validation: Parameter
  readonly pace: Pace
}

/** Runs one validation. If it fails or the time limit has passed, its answer is the error, and the others continue. */
async function oneAnswer(
  ctx: OperationContext,
  request: OperationRequest,
  { shared, validation, pace }: OneValidation,
): Promise<JsonObject> {
  let parameters = shared
  try {
    await pace.step()
    checkpoint(ctx)
    const own = parametersOf(resourceOf(validation), `${validation.expression}.resource`)
    const names = new Set(own.filter(({ name }) => name !== 'tx-resource').map(({ name }) => name))
    parameters = [...shared.filter(({ name }) => !names.has(name)), ...own]
    const runOne = request.type === 'ValueSet' && needsValueSet(parameters) ? runInValueSet : runInSystem
    return (await runOne(ctx, { ...request, parameters })).resource
  } catch (thrown) {
    const error = placedIn(parameters, thrown)
    if (error instanceof OperationError && error.code !== 'aborted') return { ...outcomeOf(error, ctx.newId()) }
    throw error
  }
}

/** @throws {OperationError} `body-structure` for anything but a Parameters resource. */
function resourceOf({ resource, expression }: Parameter): JsonObject {
  if (resource?.['resourceType'] === 'Parameters') return resource
  throw new OperationError('body-structure', `Parameter '${SLOT}' must be a Parameters resource.`, {
    expression: [`${expression}.resource`],
  })
}

/** False if a validation names no value set but the code system of its code. */
function needsValueSet(parameters: readonly Parameter[]): boolean {
  const reader = parameterReader(parameters)
  const named = [reader.text('url'), reader.resource('valueSet'), reader.text('context')]
  const isOfSystem = reader.text('code') === undefined || reader.text('system') !== undefined
  return !isOfSystem || named.some((name) => name !== undefined)
}
