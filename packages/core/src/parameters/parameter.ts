import { OperationError, quoted } from '../errors/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import type { ParametersParameter } from 'fhir/r4.js'

/** An input of an operation, from a Parameters resource or a query. */
export interface Parameter {
  readonly name: string
  /** The primitive or complex value; `undefined` when there is none. */
  readonly value: unknown
  /** The `x` of `value[x]`, for example `Uri`; absent for a query, where all values are text. */
  readonly type?: string | undefined
  /** The `_value[x]`: id and extensions of a primitive value. */
  readonly extra?: JsonObject | undefined
  readonly resource?: JsonObject | undefined
  readonly parts: readonly Parameter[]
  /** FHIRPath of the parameter in the request, or its name for a query. */
  readonly expression: string
}

/**
 * Returns the inputs of a Parameters resource in their order.
 *
 * @param place FHIRPath of the resource, for errors.
 * @throws {OperationError} `body-structure` for an object without the shape of Parameters; `parameter-invalid` for a parameter
 *   with more than one of value, resource and part.
 * @see https://hl7.org/fhir/R4/parameters.html
 */
export function parametersOf(body: JsonObject, place = 'Parameters'): readonly Parameter[] {
  if (body['resourceType'] !== 'Parameters') {
    throw new OperationError('body-structure', 'The body must be a Parameters resource.', { expression: ['resourceType'] })
  }
  return parameterList(body['parameter'], `${place}.parameter`)
}

function parameterList(list: unknown, path: string): readonly Parameter[] {
  if (list === undefined) return NONE
  if (!Array.isArray(list)) throw new OperationError('body-structure', `${path} must be an array.`, { expression: [path] })
  return list.map((item, index) => parameterAt(item, `${path}[${index}]`))
}

function parameterAt(item: unknown, expression: string): Parameter {
  if (!isObject(item)) throw new OperationError('body-structure', `${expression} must be an object.`, { expression: [expression] })
  const name = item['name']
  if (typeof name !== 'string' || name === '') {
    throw new OperationError('body-structure', `${expression} has no name.`, { expression: [`${expression}.name`] })
  }
  const valueNames = Object.keys(item).filter(isValueName)
  const kinds = valueNames.length + Number(Object.hasOwn(item, 'resource')) + Number(Object.hasOwn(item, 'part'))
  if (kinds > 1) {
    throw new OperationError('parameter-invalid', `Parameter ${quoted(name)} has more than one value.`, { expression: [expression] })
  }
  const [valueName] = valueNames
  const type = valueName?.slice(VALUE.length)
  const value = valueName === undefined ? undefined : item[valueName]
  if (type !== undefined) checkValueShape(type, value, `${expression}.${valueName}`)
  const resource = resourceOf(item, expression)
  return { name, value, type, extra: extraOf(item), resource, parts: partsOf(item, expression), expression }
}

function extraOf(item: JsonObject): JsonObject | undefined {
  const name = Object.keys(item).find((member) => member.startsWith('_') && isValueName(member.slice(1)))
  const extra = name === undefined ? undefined : item[name]
  return isObject(extra) ? extra : undefined
}

const VALUE = 'value'

/** True for the name of a `value[x]` member. */
function isValueName(name: string): boolean {
  const first = name.charCodeAt(VALUE.length)
  return first >= 0x41 && first <= 0x5a && name.startsWith(VALUE)
}

function resourceOf(item: JsonObject, expression: string): JsonObject | undefined {
  if (!Object.hasOwn(item, 'resource')) return undefined
  const resource = item['resource']
  if (!isObject(resource) || typeof resource['resourceType'] !== 'string') {
    throw new OperationError('body-structure', `${expression}.resource is not a resource.`, { expression: [`${expression}.resource`] })
  }
  return resource
}

function partsOf({ part }: JsonObject, expression: string): readonly Parameter[] {
  return part === undefined ? NONE : parameterList(part, `${expression}.part`)
}

const NONE: readonly Parameter[] = []

/** Returns the inputs of an operation that is called by GET, from decoded pairs of name and value, in their order. */
export function parametersFromQuery(pairs: Iterable<readonly [string, string]>): readonly Parameter[] {
  return [...pairs].map(([name, value]) => ({ name, value, type: undefined, resource: undefined, parts: NONE, expression: name }))
}

/** Creates a parameter of an answer with its value under `valueName`; an empty list when there is no value. */
export function parameterOf(name: string, valueName: `value${string}`, value: unknown): ParametersParameter[] {
  return value === undefined ? [] : [{ name, [valueName]: value }]
}

type Check = (value: unknown, expression: string) => void

/** Checks for types whose values are not JSON strings. Other values are checked where they are read. */
const CHECKS: ReadonlyMap<string, Check> = new Map([
  ['Boolean', ofType('boolean')],
  ['Decimal', ofType('number')],
  ['Integer', ofType('number')],
  ['PositiveInt', ofType('number')],
  ['UnsignedInt', ofType('number')],
  ['Coding', coding],
  ['CodeableConcept', codeableConcept],
])

/**
 * Refuses a value whose JSON type does not fit `type`, the `x` of `value[x]`, also inside codings, so that no version or display is silently
 * ignored.
 *
 * @throws {OperationError} `body-structure` for such a value.
 */
function checkValueShape(type: string, value: unknown, expression: string): void {
  CHECKS.get(type)?.(value, expression)
}

function ofType(jsonType: 'boolean' | 'number' | 'string'): Check {
  return (value, expression) => {
    if (typeof value !== jsonType) throw wrongShape(expression, `a ${jsonType}`)
  }
}

const CODING_MEMBERS: ReadonlyMap<string, Check> = new Map([
  ...['system', 'version', 'code', 'display'].map((name) => [name, ofType('string')] as const),
  ['userSelected', ofType('boolean')],
])

const CONCEPT_MEMBERS: ReadonlyMap<string, Check> = new Map([
  ['coding', codings],
  ['text', ofType('string')],
])

function coding(value: unknown, expression: string): void {
  checkMembers(value, expression, CODING_MEMBERS)
}

function codings(value: unknown, expression: string): void {
  if (!Array.isArray(value)) throw wrongShape(expression, 'an array')
  for (const [index, item] of value.entries()) coding(item, `${expression}[${index}]`)
}

function codeableConcept(value: unknown, expression: string): void {
  checkMembers(value, expression, CONCEPT_MEMBERS)
}

function checkMembers(value: unknown, expression: string, members: ReadonlyMap<string, Check>): void {
  if (!isObject(value)) throw wrongShape(expression, 'an object')
  for (const [name, check] of members)
    if (Object.hasOwn(value, name) && value[name] !== undefined) check(value[name], `${expression}.${name}`)
}

function wrongShape(expression: string, expected: string): OperationError {
  return new OperationError('body-structure', `${expression} must be ${expected}.`, { expression: [expression] })
}

/**
 * Returns an error of an operation with its places as FHIRPath of the request. Operations name an input, one of several, or a part of it (`code`,
 * `useSupplement[2]`, `coding.code`); in a Parameters resource, that is `Parameters.parameter[0]` or `Parameters.parameter[0].valueCoding.code`. Other
 * places, inputs that were not sent, and other errors stay as they are.
 */
export function placedIn(parameters: readonly Parameter[], error: unknown): unknown {
  if (!(error instanceof OperationError)) return error
  const expression = error.expression.map((place) => placeOf(parameters, place))
  if (expression.every((place, index) => place === error.expression[index])) return error
  return new OperationError(error.code, error.message, { ...error.detail, expression })
}

/** An input, its number from 0 if it repeats, and the path within it. Other places begin with the name of a type. */
const INPUT = /^([a-z_][\w-]*)(?:\[(\d{1,6})\])?(\..*)?$/

/** Members of a Coding, which may also be parameters of their own. */
const IN_CODING: ReadonlySet<string> = new Set(['system', 'version', 'code', 'display'])

function placeOf(parameters: readonly Parameter[], place: string): string {
  const [, name = '', index = '0', path = ''] = INPUT.exec(place) ?? []
  const own = parameters.filter((parameter) => parameter.name === name)[Number(index)]
  if (own !== undefined) return within(own, path)
  const coding = IN_CODING.has(place) ? parameters.find((parameter) => parameter.name === 'coding') : undefined
  return coding === undefined ? place : within(coding, `.${place}`)
}

function within({ expression, type, resource }: Parameter, path: string): string {
  // A body that is the resource itself is not inside a parameter.
  if (path === '' || !expression.startsWith('Parameters.')) return `${expression}${path}`
  if (resource !== undefined) return `${expression}.resource${path}`
  return type === undefined ? expression : `${expression}.value${type}${path}`
}
