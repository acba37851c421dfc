import type { Decimal } from './decimal.js'
import type { TypeDefinition } from 'fhir-ops/internal/fhirpath'
import type { Temporal } from './temporal.js'

/**
 * A CQL value. Boolean, Integer (a number), Long (a bigint) and String are JavaScript values; lists are arrays; everything else is an object
 * with a `kind`. An unknown value is `null`, never `undefined`.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Decimal
  | Temporal
  | Quantity
  | Ratio
  | Interval
  | Code
  | Concept
  | Vocabulary
  | Tuple
  | FhirElement
  | readonly Value[]

/** A System.Quantity; `unit` is a UCUM code or a calendar unit (`year`, `days`). */
export interface Quantity {
  readonly kind: 'quantity'
  readonly value: Decimal
  readonly unit: string
}

/** A System.Ratio of two quantities. */
export interface Ratio {
  readonly kind: 'ratio'
  readonly numerator: Quantity | null
  readonly denominator: Quantity | null
}

/**
 * An interval of ordered points. A `null` boundary means the least or greatest point of the type if it is closed, and unknown if it is open.
 * `uncertain` marks the result of a computation on imprecise values: one unknown point within the interval, not all of its points.
 */
export interface Interval {
  readonly kind: 'interval'
  readonly low: Value
  readonly high: Value
  readonly lowClosed: boolean
  readonly highClosed: boolean
  readonly pointType: PointType | undefined
  readonly uncertain?: true
}

/** Types of the points of intervals. */
export type PointType = 'Integer' | 'Long' | 'Decimal' | 'Quantity' | 'Date' | 'DateTime' | 'Time'

/** A System.Code; absent elements are null. */
export interface Code {
  readonly kind: 'code'
  readonly code: string | null
  readonly system: string | null
  readonly version: string | null
  readonly display: string | null
}

/** A System.Concept: codes with the same meaning. */
export interface Concept {
  readonly kind: 'concept'
  readonly codes: readonly Code[]
  readonly display: string | null
}

/** A System.ValueSet or System.CodeSystem: a reference to terminology by canonical. */
export interface Vocabulary {
  readonly kind: 'valueSet' | 'codeSystem'
  readonly id: string
  readonly version: string | null
}

/** A tuple, or an instance of a class that is not a System type. */
export interface Tuple {
  readonly kind: 'tuple'
  readonly elements: ReadonlyMap<string, Value>
}

/**
 * A resource, or an element of one, with its FHIR type. `json` is its JSON; `extra` is the content of `_name` next to a primitive; `values` has computed values
 * of a resource that is kept from one evaluation to the next.
 */
export interface FhirElement {
  readonly kind: 'fhir'
  readonly type: TypeDefinition
  readonly json: unknown
  readonly extra?: unknown
  readonly values?: (Value | undefined)[]
}

/** Whether a value is a list. */
export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

/** The `kind` of a value that has one. */
export type Kind = Exclude<Value, null | boolean | number | bigint | string | readonly Value[]>['kind']

/** The `kind` of an object, or the name of the type of any other value: `null`, `boolean`, `integer`, `long`, `string`, `list`. */
export function kindOf(value: Value): Kind | 'null' | 'boolean' | 'integer' | 'long' | 'string' | 'list' {
  switch (typeof value) {
    case 'boolean':
      return 'boolean'
    case 'number':
      return 'integer'
    case 'bigint':
      return 'long'
    case 'string':
      return 'string'
    default:
      if (value === null) return 'null'
      return isList(value) ? 'list' : value.kind
  }
}

/** The quantity of a value and a unit; `1` when the unit is absent. */
export function quantity(value: Decimal, unit = '1'): Quantity {
  return { kind: 'quantity', value, unit }
}

/** Whether a value is an interval. */
export function isInterval(value: Value): value is Interval {
  return kindOf(value) === 'interval'
}

/** Whether a value is a date, a date and time or a time of day. */
export function isTemporal(value: Value): value is Temporal {
  const kind = kindOf(value)
  return kind === 'date' || kind === 'dateTime' || kind === 'time'
}

/** Whether a value is a decimal. */
export function isDecimal(value: Value): value is Decimal {
  return kindOf(value) === 'decimal'
}

/** Whether a value is a quantity. */
export function isQuantity(value: Value): value is Quantity {
  return kindOf(value) === 'quantity'
}

/** Whether a value is a code. */
export function isCode(value: Value): value is Code {
  return kindOf(value) === 'code'
}

/** Whether a value is a concept. */
export function isConcept(value: Value): value is Concept {
  return kindOf(value) === 'concept'
}

/** Whether a value is a FHIR element. */
export function isFhir(value: Value): value is FhirElement {
  return kindOf(value) === 'fhir'
}

/** Whether a value is a tuple. */
export function isTuple(value: Value): value is Tuple {
  return kindOf(value) === 'tuple'
}

/** Whether a value is a ratio. */
export function isRatio(value: Value): value is Ratio {
  return kindOf(value) === 'ratio'
}

/** Whether a value is a value set or code system. */
export function isVocabulary(value: Value): value is Vocabulary {
  const kind = kindOf(value)
  return kind === 'valueSet' || kind === 'codeSystem'
}
