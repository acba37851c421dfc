import type { TypeModel } from 'fhir-ops/fhirpath'
import { CALENDAR_OF_UCUM } from 'fhir-ops/internal/fhirpath'
import { decimalOf } from '../values/compare.js'
import { intervalOf } from '../values/interval.js'
import { parseDateTime } from '../values/temporal.js'
import { isFhir, isList, isQuantity, quantity, type Code, type FhirElement, type Quantity, type Value } from '../values/value.js'
import { memberOf, propertyOf, systemValueOf } from './property.js'

/** Context of the conversions: the model and offset of the library that uses them. */
export interface HelperContext {
  readonly model: TypeModel
  readonly offset: number
}

type Helper = (value: Value, context: HelperContext) => Value

/**
 * The functions of the library FHIRHelpers, which convert FHIR elements to System values. They are built in, for every version of it, because most
 * nodes of a library are calls of them.
 */
export const FHIR_HELPERS: Readonly<Record<string, Helper>> = {
  ToString: (value, context) => {
    const plain = plainOf(value, context)
    return typeof plain === 'string' ? plain : null
  },
  ToBoolean: plainOf,
  ToInteger: plainOf,
  ToDecimal: (value, context) => decimalOf(plainOf(value, context)) ?? null,
  ToDate: plainOf,
  ToDateTime: plainOf,
  ToTime: plainOf,
  ToQuantity: quantityOf,
  ToQuantityIgnoringComparator: (value, context) => amountOf(value, context),
  ToRatio: ratioOf,
  ToInterval: intervalOfElement,
  ToCode: (value, context) => (isFhir(value) ? codeOf(value, context) : null),
  ToConcept: conceptOf,
  ToValue: systemOf,
  ToCalendarUnit: (value) => (typeof value === 'string' ? (CALENDAR_OF_UCUM.get(value) ?? value) : null),
  ToValueSet: (value, context) => {
    const url = plainOf(value, context)
    return typeof url === 'string' ? { kind: 'valueSet', id: url, version: null } : null
  },
}

function ratioOf(value: Value, context: HelperContext): Value {
  const [numerator, denominator] = ['numerator', 'denominator'].map((name) => quantityOf(member(value, name, context), context))
  if (numerator === undefined || denominator === undefined || !isQuantity(numerator) || !isQuantity(denominator)) return null
  return { kind: 'ratio', numerator, denominator }
}

function conceptOf(value: Value, context: HelperContext): Value {
  if (!isFhir(value)) return null
  const codings = member(value, 'coding', context)
  const codes = isList(codings) ? codings.map((coding) => codeOf(coding, context)) : []
  return { kind: 'concept', codes, display: textOf(value, 'text', context) }
}

const CONVERSIONS: Readonly<Record<string, Helper>> = {
  CodeableConcept: conceptOf,
  Coding: codeOf,
  Period: intervalOfElement,
  Range: intervalOfElement,
  Ratio: ratioOf,
}

/** Converts a choice element to a System value: models of profiles use it for `effective` and `value`. An element without a System value stays as it is. */
function systemOf(value: Value, context: HelperContext): Value {
  if (!isFhir(value)) return value
  const { type } = value
  if (type.kind === 'primitive') return plainOf(value, context)
  if (Object.hasOwn(CONVERSIONS, type.name)) return CONVERSIONS[type.name]?.(value, context) ?? null
  return type.name === 'Quantity' || type.base === 'Quantity' ? quantityOf(value, context) : value
}

function plainOf(value: Value, { offset }: HelperContext): Value {
  return isFhir(value) ? (systemValueOf(value, offset) ?? null) : value
}

function member(value: Value, name: string, { model, offset }: HelperContext): Value {
  return propertyOf(value, name, model, offset)
}

/** The text of an element. For FHIR it is read from the JSON, without creating elements, because most conversions are of codes. */
function textOf(value: Value, name: string, context: HelperContext): string | null {
  const isElement = value !== null && isFhir(value) && value.type.elements.has(name)
  const text = isElement ? memberOf(value.json, name) : plainOf(member(value, name, context), context)
  return typeof text === 'string' ? text : null
}

function codeOf(coding: Value, context: HelperContext): Code {
  return {
    kind: 'code',
    code: textOf(coding, 'code', context),
    system: textOf(coding, 'system', context),
    version: textOf(coding, 'version', context),
    display: textOf(coding, 'display', context),
  }
}

/** Converts a quantity; null if it has a comparator, because its value is then not known. */
function quantityOf(value: Value, context: HelperContext): Value {
  if (isQuantity(value)) return value
  return member(value, 'comparator', context) === null ? amountOf(value, context) : null
}

function amountOf(value: Value, context: HelperContext): Value {
  if (isQuantity(value)) return value
  const amount = decimalOf(plainOf(member(value, 'value', context), context))
  return amount === undefined ? null : quantity(amount, unitOf(value, context))
}

/** The unit of a quantity: its code, otherwise its unit as written, otherwise 1. FHIRHelpers treats UCUM's units of time as calendar units. */
function unitOf(value: Value, context: HelperContext): string {
  const unit = textOf(value, 'code', context) ?? textOf(value, 'unit', context) ?? '1'
  return CALENDAR_OF_UCUM.get(unit) ?? unit
}

/** Converts a Period or Range to an interval, and a quantity with a comparator to the interval of its possible values. */
function intervalOfElement(value: Value, context: HelperContext): Value {
  if (!isFhir(value)) return null
  if (value.type.name === 'Period') {
    const [low, high] = [endOfPeriod(value, 'start', context), endOfPeriod(value, 'end', context)]
    if (low === null && high === null) return null
    return intervalOf({ low, high, lowClosed: low !== null, highClosed: true, pointType: 'DateTime' })
  }
  if (value.type.name === 'Range') {
    const [low, high] = [quantityOf(member(value, 'low', context), context), quantityOf(member(value, 'high', context), context)]
    return low === null && high === null ? null : intervalOf({ low, high, lowClosed: true, highClosed: true, pointType: 'Quantity' })
  }
  return comparedInterval(value, context)
}

/** A bound of a period. It is read from the JSON, without creating an element, because most periods are only compared. */
function endOfPeriod(period: FhirElement, name: 'end' | 'start', context: HelperContext): Value {
  const text = memberOf(period.json, name)
  return typeof text === 'string' ? (parseDateTime(text, context.offset) ?? null) : plainOf(member(period, name, context), context)
}

function comparedInterval(value: Value, context: HelperContext): Value {
  const amount = amountOf(value, context)
  if (!isQuantity(amount)) return null
  const at: Quantity = amount
  switch (textOf(value, 'comparator', context)) {
    case '<':
      return intervalOf({ low: null, high: at, lowClosed: true, highClosed: false, pointType: 'Quantity' })
    case '<=':
      return intervalOf({ low: null, high: at, lowClosed: true, highClosed: true, pointType: 'Quantity' })
    case '>=':
      return intervalOf({ low: at, high: null, lowClosed: true, highClosed: true, pointType: 'Quantity' })
    case '>':
      return intervalOf({ low: at, high: null, lowClosed: false, highClosed: true, pointType: 'Quantity' })
    default:
      return intervalOf({ low: at, high: at, lowClosed: true, highClosed: true, pointType: 'Quantity' })
  }
}
