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
}

const MODES = ['create', 'update', 'delete', 'profile'] as const

/** @see https://hl7.org/fhir/R4/valueset-resource-validation-mode.html */
export type ValidateMode = (typeof MODES)[number]

/**
 * Reads a call: the body is the resource itself, or Parameters with `resource`, `mode` and `profile`; the latter two may also stand in
 * the query.
 *
 * @throws {OperationError} `parameter-value` for an unknown mode, `body-structure` for a resource of another type than the path's.
 */
export function readRequest({ type, bodyText, parameters }: OperationRequest): ValidateRequest {
  const body = bodyText === undefined || bodyText === '' ? undefined : parseJsonSource(bodyText)
  const wrapped = body === undefined ? undefined : unwrapped(body, type)
  const source = wrapped === undefined ? body : wrapped.source
  if (source !== undefined) refuseOtherType(source, type)
  return { source, ...readOptions([...parameters, ...(wrapped?.parameters ?? [])]) }
}

function readOptions(parameters: readonly Parameter[]): Pick<ValidateRequest, 'mode' | 'profiles'> {
  const reader = parameterReader(parameters)
  const mode = modeOf(reader.text('mode'))
  const profiles = reader.texts('profile')
  reader.all('resource', '_format', '_pretty')
  reader.refuseUnknown()
  return { mode, profiles }
}

function modeOf(text: string | undefined): ValidateMode | undefined {
  const mode = MODES.find((known) => known === text)
  if (text === undefined || mode !== undefined) return mode
  throw new OperationError('parameter-value', `Mode ${quoted(text)} is not known; it is one of ${MODES.join(', ')}.`, { expression: ['mode'] })
}

/** The resource in a Parameters body and its other parameters. At `Parameters/$validate` the body is the resource, unless it holds one. */
function unwrapped(body: JsonSource, type: string): { source: JsonSource | undefined; parameters: readonly Parameter[] } | undefined {
  if (!isObject(body.value) || body.value['resourceType'] !== 'Parameters') return undefined
  const list = body.value['parameter']
  const index = Array.isArray(list) ? list.findIndex((item) => isObject(item) && item['name'] === 'resource' && isObject(item['resource'])) : -1
  const resource: unknown = Array.isArray(list) && isObject(list[index]) ? list[index]['resource'] : undefined
  if (type === 'Parameters' && !(isObject(resource) && resource['resourceType'] === 'Parameters')) return undefined
  const source = resource === undefined ? undefined : { ...body, value: resource, slips: slipsWithin(body.slips, index) }
  return { source, parameters: parametersOf(body.value) }
}

function slipsWithin(slips: readonly JsonSlip[], index: number): readonly JsonSlip[] {
  return slips
    .filter(({ path }) => path[0] === 'parameter' && path[1] === index && path[2] === 'resource')
    .map((slip) => ({ ...slip, path: slip.path.slice(3) }))
}

function refuseOtherType({ value }: JsonSource, type: string): void {
  const own = isObject(value) ? stringAt(value, 'resourceType') : undefined
  if (own === undefined || own === type) return
  throw new OperationError('body-structure', `The resource is ${quoted(own)}, but the path says ${quoted(type)}.`, { expression: ['resourceType'] })
}
