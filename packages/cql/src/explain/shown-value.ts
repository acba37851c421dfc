import { OperationError } from 'fhir-ops/errors'
import { FHIR_HELPERS, type HelperContext } from '../model/fhir-helpers.js'
import { systemValueOf } from '../model/property.js'
import { decimalText } from '../values/decimal.js'
import { literalText, plainTextOf } from '../values/text.js'
import {
  isCode,
  isConcept,
  isFhir,
  isInterval,
  isList,
  isQuantity,
  isTemporal,
  type Code,
  type FhirElement,
  type Interval,
  type Value,
} from '../values/value.js'
import type { Temporal } from '../values/temporal.js'
import { cut } from './clause-text.js'
import { idOf } from './trace.js'

/** A short text of a value: resources as references, elements as their System values. */
export function shownValue(value: Value, context: HelperContext): string {
  return cut(valueText(value, context, 0), 100)
}

const MAX_ITEMS = 3
/** Maximum nesting of values that is shown. */
const MAX_DEPTH = 3

function valueText(value: Value, context: HelperContext, depth: number): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return `'${cut(value, 80)}'`
  if (isFhir(value)) return elementText(value, context, depth)
  if (isList(value)) return listText(value, context, depth)
  if (isTemporal(value)) return momentText(value)
  if (isInterval(value)) return intervalText(value, context, depth)
  if (isQuantity(value)) return value.unit === '1' ? decimalText(value.value) : `${decimalText(value.value)} ${value.unit}`
  if (isCode(value)) return codeText(value)
  if (isConcept(value)) return value.codes.slice(0, MAX_ITEMS).map(codeText).join(', ')
  if (typeof value === 'object' && value.kind === 'tuple') return `a tuple of ${[...value.elements.keys()].slice(0, 5).join(', ')}`
  return literalText(value)
}

function listText(list: readonly Value[], context: HelperContext, depth: number): string {
  if (list.length === 0) return 'an empty list'
  if (depth > MAX_DEPTH) return `${list.length} items`
  const items = list.slice(0, MAX_ITEMS).map((item) => valueText(item, context, depth + 1))
  return list.length > MAX_ITEMS ? `${items.join(', ')} and ${list.length - MAX_ITEMS} more` : items.join(', ')
}

/** `http://loinc.org|4548-4`. */
export function codeText({ system, code }: Pick<Code, 'code' | 'system'>): string {
  return system === null ? (code ?? '') : `${system}|${code ?? ''}`
}

const CONVERSIONS: Readonly<Record<string, string>> = {
  Period: 'ToInterval',
  Quantity: 'ToQuantityIgnoringComparator',
  CodeableConcept: 'ToConcept',
  Coding: 'ToCode',
}

/** The System value of an element; null if there is none. Other values are returned as they are. */
export function systemValue(value: Value, context: HelperContext): Value {
  if (value === null || !isFhir(value)) return value
  if (value.type.kind === 'primitive') return systemValueOf(value, context.offset) ?? null
  const conversion = CONVERSIONS[value.type.name]
  const helper = conversion === undefined ? undefined : FHIR_HELPERS[conversion]
  return helper === undefined ? null : converted(() => helper(value, context))
}

function elementText(element: FhirElement, context: HelperContext, depth: number): string {
  if (element.type.kind === 'resource') return idOf(element)
  const value = systemValue(element, context)
  return value === null ? `a ${element.type.name}` : valueText(value, context, depth + 1)
}

/** The result of a conversion; null for a value that cannot be converted, such as a period that ends before it begins. */
function converted(convert: () => Value): Value {
  try {
    return convert()
  } catch (error) {
    if (error instanceof OperationError) return null
    throw error
  }
}

/** A date and time without redundant parts: milliseconds of zero and, in UTC, seconds of zero. */
export function momentText(value: Temporal): string {
  const text = plainTextOf(value) ?? ''
  const short = text.replace('.000', '').replace('+00:00', 'Z')
  return short.endsWith(':00Z') ? `${short.slice(0, -':00Z'.length)}Z` : short
}

function intervalText({ low, high, lowClosed, highClosed }: Interval, context: HelperContext, depth: number): string {
  if (isTemporal(low) && isTemporal(high) && lowClosed && highClosed)
    return `${dayOf(low, 'T00:00:00.000')}..${dayOf(high, 'T23:59:59.999')}`
  const side = (value: Value): string =>
    value === null ? '' : isTemporal(value) ? momentText(value) : valueText(value, context, depth + 1)
  return `${lowClosed ? '[' : '('}${side(low)}..${side(high)}${highClosed ? ']' : ')'}`
}

/** Only the day, if the time is its first or last moment. */
function dayOf(value: Temporal, time: string): string {
  const text = plainTextOf(value) ?? ''
  return text.slice('0000-00-00'.length).startsWith(time) ? text.slice(0, '0000-00-00'.length) : momentText(value)
}
