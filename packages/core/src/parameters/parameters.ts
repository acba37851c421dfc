import type { ParametersParameter } from 'fhir/r4.js'
import { OperationError, quoted } from '../errors/index.js'
import { isObject, type JsonObject } from '../json/index.js'

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

/**
 * Reads an operation's inputs by name and type, and remembers the names that were read.
 *
 * A method for one value throws `parameter-invalid` when the parameter is repeated, and every method throws `parameter-value` for a value of the
 * wrong JSON type or form. `names` are synonyms: the parameter may have any one of them.
 */
export interface ParameterReader {
  /** Reads a code, uri, canonical, id or string; any of these types is accepted. Blank text is `parameter-value`. */
  text(...names: readonly string[]): string | undefined
  /** As `text`, for a repeating parameter. */
  texts(...names: readonly string[]): readonly string[]
  /** As `text`, but blank and empty text is allowed. */
  freeText(...names: readonly string[]): string | undefined
  /** Reads `true` or `false`, also as text. */
  boolean(...names: readonly string[]): boolean | undefined
  /** Reads a whole number from 0 to 999,999,999, also as text. */
  count(...names: readonly string[]): number | undefined
  /** Reads a complex value of this type, such as `Coding`. */
  object(type: string, ...names: readonly string[]): JsonObject | undefined
  resource(...names: readonly string[]): JsonObject | undefined
  resources(...names: readonly string[]): readonly JsonObject[]
  /** Returns the parameters themselves, for those with parts. */
  all(...names: readonly string[]): readonly Parameter[]
  /** Returns the FHIRPath of the first parameter with this name, for errors; the name itself when there is none. */
  expressionOf(name: string): string
  /** Refuses these parameters. @throws {OperationError} `parameter-unsupported` naming the first of them that was sent. */
  refuse(...names: readonly string[]): void
  /** Refuses parameters that no method has read. @throws {OperationError} `parameter-invalid` naming the first of them. */
  refuseUnknown(): void
}

/** Creates a reader over the inputs of one request. */
export function parameterReader(parameters: readonly Parameter[]): ParameterReader {
  return new Reader(parameters)
}

/** A class, because the cost of each read matters: an operation reads about twenty names, and few requests send more than three (bench `http`). */
class Reader implements ParameterReader {
  readonly #parameters: readonly Parameter[]
  readonly #sent: ReadonlySet<string>
  /** The names of each read. */
  readonly #asked: (readonly string[])[] = []

  constructor(parameters: readonly Parameter[]) {
    this.#parameters = parameters
    this.#sent = new Set(parameters.map(({ name }) => name))
  }

  text(...names: readonly string[]): string | undefined {
    return optional(this.#one(names), asText)
  }

  texts(...names: readonly string[]): readonly string[] {
    return this.#named(names).map(asText)
  }

  freeText(...names: readonly string[]): string | undefined {
    return optional(this.#one(names), asFreeText)
  }

  boolean(...names: readonly string[]): boolean | undefined {
    return optional(this.#one(names), asBoolean)
  }

  count(...names: readonly string[]): number | undefined {
    return optional(this.#one(names), asCount)
  }

  object(type: string, ...names: readonly string[]): JsonObject | undefined {
    return optional(this.#one(names), (parameter) => asObject(parameter, type))
  }

  resource(...names: readonly string[]): JsonObject | undefined {
    return optional(this.#one(names), asResource)
  }

  resources(...names: readonly string[]): readonly JsonObject[] {
    return this.#named(names).map(asResource)
  }

  all(...names: readonly string[]): readonly Parameter[] {
    return this.#named(names)
  }

  expressionOf(name: string): string {
    return this.#parameters.find((parameter) => parameter.name === name)?.expression ?? name
  }

  refuse(...names: readonly string[]): void {
    const [first] = this.#named(names)
    if (first === undefined) return
    throw new OperationError('parameter-unsupported', `Parameter ${quoted(first.name)} is not supported.`, {
      expression: [first.expression],
    })
  }

  refuseUnknown(): void {
    const known = new Set(this.#asked.flat())
    const unknown = this.#parameters.find((parameter) => !known.has(parameter.name))
    if (unknown === undefined) return
    throw new OperationError('parameter-invalid', `Parameter ${quoted(unknown.name)} is not known to this operation.`, {
      expression: [unknown.expression],
    })
  }

  #one(names: readonly string[]): Parameter | undefined {
    const [first, second] = this.#named(names)
    if (second !== undefined) {
      throw new OperationError('parameter-invalid', `Parameter ${quoted(second.name)} is given more than once.`, {
        expression: [second.expression],
      })
    }
    return first
  }

  #named(names: readonly string[]): readonly Parameter[] {
    this.#asked.push(names)
    for (const name of names) if (this.#sent.has(name)) return this.#parameters.filter((parameter) => names.includes(parameter.name))
    return NONE
  }
}

function optional<T>(parameter: Parameter | undefined, convert: (parameter: Parameter) => T): T | undefined {
  return parameter === undefined ? undefined : convert(parameter)
}

function wrongValue(parameter: Parameter, expected: string): OperationError {
  return new OperationError('parameter-value', `Parameter ${quoted(parameter.name)} must be ${expected}.`, {
    expression: [parameter.expression],
  })
}

function asFreeText(parameter: Parameter): string {
  if (typeof parameter.value !== 'string') throw wrongValue(parameter, 'a text value')
  return parameter.value
}

function asText(parameter: Parameter): string {
  const text = asFreeText(parameter)
  if (text.trim() === '') throw wrongValue(parameter, 'a text that is not blank')
  return text
}

function asBoolean(parameter: Parameter): boolean {
  if (parameter.value === true || parameter.value === 'true') return true
  if (parameter.value === false || parameter.value === 'false') return false
  throw wrongValue(parameter, 'true or false')
}

/** The greatest integer of FHIR, which clients send for as many as there are. @see https://hl7.org/fhir/R4/datatypes.html#integer */
const MOST_COUNT = 2_147_483_647

function asCount(parameter: Parameter): number {
  const { value } = parameter
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  if (!/^\d{1,10}$/.test(text) || Number(text) > MOST_COUNT) throw wrongValue(parameter, `a whole number from 0 to ${MOST_COUNT}`)
  return Number(text)
}

function asObject(parameter: Parameter, type: string): JsonObject {
  if (parameter.type === type && isObject(parameter.value)) return parameter.value
  throw wrongValue(parameter, `a ${type}${adviceOfUrl(parameter)}`)
}

/** A query has texts only. */
function adviceOfUrl({ type, value }: Parameter): string {
  return type === undefined && typeof value === 'string' ? ', which a URL cannot carry; send it in a Parameters resource' : ''
}

function asResource(parameter: Parameter): JsonObject {
  if (parameter.resource === undefined) throw wrongValue(parameter, `a resource${adviceOfUrl(parameter)}`)
  return parameter.resource
}
