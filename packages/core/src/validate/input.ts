import { OperationError, quoted } from '../errors/index.js'
import { isObject, parseJsonSource, stringAt, type JsonSlip, type JsonSource } from '../json/index.js'
import type { OperationRequest } from '../operation/index.js'
import { parameterReader, parametersOf, type Parameter } from '../parameters/index.js'

/** What a call of `$validate` asks. */
export interface ValidateRequest {
  /** Absent when the stored resource is meant. */
  readonly source?: JsonSource | undefined
  readonly mode?: ValidateMode | undefined
  readonly profiles: readonly string[]
  /** Tell line and column of each issue in the body. */
  readonly places: boolean
}

const MODES = ['create', 'update', 'delete', 'profile'] as const

/** @see https://hl7.org/fhir/R4/valueset-resource-validation-mode.html */
export type ValidateMode = (typeof MODES)[number]

/**
 * Reads a call: the body is the resource itself, or Parameters with `resource`, `mode`, `profile` and `places`; all but the first may also
 * stand in the query.
 *
 * @throws {OperationError} `parameter-value` for an unknown mode, `body-structure` for a resource of another type than the path's.
 */
export function readRequest(request: OperationRequest): ValidateRequest {
  const { source, parameters } = bodyOf(request, false)
  if (source !== undefined) refuseOtherType(source, request.type)
  const options = readOptions([...request.parameters, ...parameters])
  return { source: options.places ? bodyOf(request, true).source : source, ...options }
}

interface Body {
  readonly source: JsonSource | undefined
  readonly parameters: readonly Parameter[]
}

function bodyOf({ type, bodyText = '' }: OperationRequest, positions: boolean): Body {
  if (bodyText === '') return { source: undefined, parameters: [] }
  const body = parseJsonSource(bodyText, { positions })
  return unwrapped(body, type) ?? { source: body, parameters: [] }
}

function readOptions(parameters: readonly Parameter[]): Pick<ValidateRequest, 'mode' | 'profiles' | 'places'> {
  const reader = parameterReader(parameters)
  const mode = modeOf(reader.text('mode'))
  const profiles = reader.texts('profile')
  const places = reader.boolean('places') ?? false
  reader.all('resource', '_format', '_pretty')
  reader.refuseUnknown()
  return { mode, profiles, places }
}

function modeOf(text: string | undefined): ValidateMode | undefined {
  const mode = MODES.find((known) => known === text)
  if (text === undefined || mode !== undefined) return mode
  throw new OperationError('parameter-value', `Mode ${quoted(text)} is not known; it is one of ${MODES.join(', ')}.`, {
    expression: ['mode'],
  })
}

/** The resource in a Parameters body and its other parameters. At `Parameters/$validate` the body is the resource, unless it holds one. */
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
    return { ...body, value: item['resource'], start, slips: slipsWithin(body.slips, index) }
  }
  return undefined
}

function slipsWithin(slips: readonly JsonSlip[], index: number): readonly JsonSlip[] {
  return slips
    .filter(({ path }) => path[0] === 'parameter' && path[1] === index && path[2] === 'resource')
    .map((slip) => ({ ...slip, path: slip.path.slice(3) }))
}

function refuseOtherType({ value }: JsonSource, type: string): void {
  const own = isObject(value) ? stringAt(value, 'resourceType') : undefined
  if (own === undefined || own === type) return
  throw new OperationError('body-structure', `The resource is ${quoted(own)}, but the path says ${quoted(type)}.`, {
    expression: ['resourceType'],
  })
}
