import { OperationError, quoted } from '../errors/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import type { Parameter } from './parameter.js'

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

const NONE: readonly Parameter[] = []

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
