import type { Coding, Parameters, ParametersParameter, Period, Quantity as FhirQuantity, Range, Resource } from 'fhir/r4.js'
import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { isMap, ownCopy } from 'fhir-ops/internal/json'
import { choiceName } from 'fhir-ops/internal/text'
import { propertyOf, systemValueOf } from '../model/property.js'
import { decimalText, numberOf } from '../values/decimal.js'
import { endOf, startOf } from '../values/interval.js'
import { DAY, MILLISECOND, SECOND, temporalText, withFields, type Temporal } from '../values/temporal.js'
import { calendarUnit } from 'fhir-ops/internal/fhirpath'
import { decimalOf } from '../values/compare.js'
import {
  isList,
  isQuantity,
  isTemporal,
  type Code,
  type Concept,
  type FhirElement,
  type Interval,
  type Quantity,
  type Ratio,
  type Tuple,
  type Value,
  type Vocabulary,
} from '../values/value.js'

const EXTENSIONS = 'http://hl7.org/fhir/StructureDefinition'
/** Extensions that describe what there is instead of a value. */
export const ABSENT: string = `${EXTENSIONS}/data-absent-reason`
export const EMPTY_LIST: string = `${EXTENSIONS}/cqf-isEmptyList`
export const EMPTY_TUPLE: string = `${EXTENSIONS}/cqf-isEmptyTuple`
const UCUM = 'http://unitsofmeasure.org'

/**
 * Converts one CQL result to parameters, which all have the same name (Using CQL with FHIR, requirement 4.3).
 *
 * The extension `cqf-cqlType` states the type. Null becomes an absent value with the reason `unknown`; an empty list is marked by an extension; the
 * elements of a list become parameters of the same name, and lists within lists and tuples become parts. Open bounds of intervals become closed.
 *
 * @param model The FHIR types. With them, elements that cannot be the value of a parameter (`Observation.component`) become parts, as tuples do.
 */
export function toParameterEntries(name: string, value: Value, model?: TypeModel): readonly ParametersParameter[] {
  if (!isList(value)) return [entry(name, value, model)]
  return value.length === 0 ? [listEntry(name, value, model)] : value.map((item) => entry(name, item, model))
}

/** A list as one parameter, with its elements as parts. */
function listEntry(name: string, list: readonly Value[], model: TypeModel | undefined): ParametersParameter {
  if (list.length === 0) return { name, _valueBoolean: { extension: [{ url: EMPTY_LIST, valueBoolean: true }] } }
  return { name, part: list.flatMap((item) => toParameterEntries('element', item, model)) }
}

/**
 * Converts several CQL results to one Parameters resource, each as `toParameterEntries` does.
 *
 * @throws {OperationError} `parameter-value` for anything but a Map.
 */
export function toParameters(results: ReadonlyMap<string, Value>, model?: TypeModel): Parameters {
  if (!isMap(results))
    throw new OperationError('parameter-value', 'The results must be a Map of values by name, as `values` of what evaluateCql gives.')
  return { resourceType: 'Parameters', parameter: [...results].flatMap(([name, value]) => toParameterEntries(name, value, model)) }
}

const UNKNOWN = { extension: [{ url: ABSENT, valueCode: 'unknown' }] }

/** Marks an element without content as unknown, because elements of FHIR must not be empty. */
function stated<T extends object>(element: T): T {
  return Object.keys(element).length === 0 ? { ...element, ...UNKNOWN } : element
}

function entry(name: string, value: Value, model: TypeModel | undefined): ParametersParameter {
  if (value === null) return { name, _valueBoolean: { ...UNKNOWN } }
  if (typeof value === 'boolean') return { name, valueBoolean: value }
  if (typeof value === 'number') return { name, valueInteger: value }
  if (typeof value === 'bigint') return { ...typed(name, 'System.Long'), valueString: String(value) }
  if (typeof value === 'string') return { name, valueString: value }
  return isList(value) ? listEntry(name, value, model) : objectEntry(name, value, model)
}

type ObjectValue = Exclude<Value, null | boolean | number | bigint | string | readonly Value[]>

function objectEntry(name: string, value: ObjectValue, model: TypeModel | undefined): ParametersParameter {
  switch (value.kind) {
    case 'decimal':
      return { ...typed(name, 'System.Decimal'), valueDecimal: numberOf(value) }
    case 'date':
      return { ...typed(name, 'System.Date'), valueDate: temporalText(value) }
    case 'dateTime':
      return { ...typed(name, 'System.DateTime'), valueDateTime: fhirText(value) }
    case 'time':
      return { ...typed(name, 'System.Time'), valueTime: fhirText(value) }
    case 'quantity':
      return { ...typed(name, 'System.Quantity'), valueQuantity: fhirQuantity(value) }
    case 'interval':
      return intervalEntry(name, value)
    case 'tuple':
      return tupleEntry(name, value, model)
    case 'fhir':
      return fhirEntry(name, value, model)
    default:
      return codedEntry(name, value)
  }
}

function codedEntry(name: string, value: Ratio | Code | Concept | Vocabulary): ParametersParameter {
  switch (value.kind) {
    case 'ratio':
      return {
        ...typed(name, 'System.Ratio'),
        valueRatio: stated({
          ...(value.numerator !== null && { numerator: fhirQuantity(value.numerator) }),
          ...(value.denominator !== null && { denominator: fhirQuantity(value.denominator) }),
        }),
      }
    case 'code':
      return { ...typed(name, 'System.Code'), valueCoding: stated(coding(value)) }
    case 'concept':
      return {
        ...typed(name, 'System.Concept'),
        valueCodeableConcept: stated({
          ...(value.codes.length > 0 && { coding: value.codes.map((code) => stated(coding(code))) }),
          ...(value.display !== null && { text: value.display }),
        }),
      }
    default:
      return { ...typed(name, value.kind === 'valueSet' ? 'System.ValueSet' : 'System.CodeSystem'), valueCanonical: value.id }
  }
}

function tupleEntry(name: string, { elements }: Tuple, model: TypeModel | undefined): ParametersParameter {
  if (elements.size === 0) return { name, _valueBoolean: { extension: [{ url: EMPTY_TUPLE, valueBoolean: true }] } }
  return { name, part: [...elements].flatMap(([element, inner]) => toParameterEntries(element, inner, model)) }
}

function typed(name: string, type: string): ParametersParameter {
  return { name, extension: [{ url: `${EXTENSIONS}/cqf-cqlType`, valueString: type }] }
}

/** The text of a date or time in FHIR, where a time has at least seconds. */
function fhirText(value: Temporal): string {
  const isPartial = value.precision > DAY && value.precision < SECOND
  const whole = isPartial || (value.kind === 'time' && value.precision < SECOND) ? withFields(value, value.fields, SECOND) : value
  return temporalText(whole ?? value)
}

/** Converts a quantity to FHIR: with a code, unless its unit is a calendar unit. */
export function fhirQuantity({ value, unit }: Quantity): FhirQuantity {
  const amount = numberOf(value)
  return calendarUnit(unit) === undefined ? { value: amount, unit, system: UCUM, code: unit } : { value: amount, unit }
}

function coding({ code, system, version, display }: Code): Coding {
  return {
    ...(system !== null && { system }),
    ...(version !== null && { version }),
    ...(code !== null && { code }),
    ...(display !== null && { display }),
  }
}

/** Point types of intervals that become a Period. */
const PERIODS: ReadonlySet<string> = new Set(['Date', 'DateTime', 'Time'])

function intervalEntry(name: string, interval: Interval): ParametersParameter {
  const [start, end] = [interval.low === null ? null : startOf(interval), interval.high === null ? null : endOf(interval)]
  const type = `Interval<System.${interval.pointType ?? 'Any'}>`
  if (isTemporal(start) || isTemporal(end) || PERIODS.has(interval.pointType ?? ''))
    return { ...typed(name, type), valuePeriod: period(start, end) }
  const [low, high] = [bound(start), bound(end)]
  const range: Range = { ...(low !== undefined && { low }), ...(high !== undefined && { high }) }
  return { ...typed(name, type), valueRange: stated(range) }
}

function period(start: Value, end: Value): Period {
  return stated({ ...(isTemporal(start) && { start: periodText(start) }), ...(isTemporal(end) && { end: periodText(end) }) })
}

/** A bound of a Period; a time of day becomes a time on the first day of the calendar. */
function periodText(value: Temporal): string {
  if (value.kind !== 'time') return fhirText(value)
  return `0001-01-01T${temporalText(withFields(value, value.fields, MILLISECOND) ?? value)}Z`
}

function bound(value: Value): FhirQuantity | undefined {
  if (isQuantity(value)) return fhirQuantity(value)
  const amount = decimalOf(value)
  return amount === undefined ? undefined : { value: Number(decimalText(amount)) }
}

function fhirEntry(name: string, element: FhirElement, model: TypeModel | undefined): ParametersParameter {
  const { type, json, extra } = element
  if (isResource(json)) return { name, resource: ownCopy(json) }
  if (model !== undefined && !isOfParameters(type.name, model)) return partsEntry(name, element, model)
  const member = choiceName('value', type.name)
  return {
    name,
    ...(json !== undefined && { [member]: ownCopy(json) }),
    ...(extra !== undefined && { [`_${member}`]: ownCopy(extra) }),
  }
}

/** Whether parameters can have values of a type. They cannot have parts of resources, extensions or narratives. */
function isOfParameters(type: string, model: TypeModel): boolean {
  const slots = model.type('Parameters.parameter')?.elements.get('value') ?? []
  return slots.some((slot) => slot.type === type)
}

/** The children of an element as parts; XHTML, which has none, as a string. */
function partsEntry(name: string, element: FhirElement, model: TypeModel): ParametersParameter {
  if (element.type.kind === 'primitive') return entry(name, systemValueOf(element, 0) ?? null, model)
  const part = [...element.type.elements.keys()].flatMap((child) => {
    const value = propertyOf(element, child, model, 0)
    return value === null || (isList(value) && value.length === 0) ? [] : toParameterEntries(child, value, model)
  })
  return part.length === 0 ? entry(name, null, model) : { name, part }
}

function isResource(json: unknown): json is Resource & { readonly resourceType: never } {
  return typeof json === 'object' && json !== null && 'resourceType' in json
}
