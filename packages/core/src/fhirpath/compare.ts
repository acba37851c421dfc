import { quoted } from '../errors/index.js'
import { isDecimal, isQuantity, isTemporal, type Item, type Items, type SystemValue } from './item.js'
import { evaluationProblem } from './problem.js'
import { compareQuantities, type UnitConversion } from './quantity.js'
import { systemTypeOf, toSystem } from './to-system.js'
import { epochMs, HOUR, temporalOf, type Temporal } from './temporal.js'

/**
 * Orders two collections of at most one item: negative, zero, positive; `undefined` when one is empty or the order is open.
 *
 * @throws {OperationError} `fhirpath-invalid` for several items or types that have no order.
 * @see https://hl7.org/fhirpath/N1/#comparison
 */
export function compareItems(left: Items, right: Items, convert?: UnitConversion): number | undefined {
  if (left.length === 0 || right.length === 0) return undefined
  return compareValues(single(left), single(right), convert)
}

/** Orders two values. @throws {OperationError} `fhirpath-invalid` for types that have no order. */
export function compareValues(left: SystemValue, right: SystemValue, convert?: UnitConversion): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  const [leftNumber, rightNumber] = [numberOf(left), numberOf(right)]
  if (leftNumber !== undefined && rightNumber !== undefined) return leftNumber - rightNumber
  return compareObjects(left, right, convert)
}

/** The number that an Integer or Decimal has. */
export function numberOf(value: SystemValue | undefined): number | undefined {
  if (typeof value === 'number') return value
  return isDecimal(value) ? value.value : undefined
}

function compareText(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

function compareObjects(left: SystemValue, right: SystemValue, convert: UnitConversion | undefined): number | undefined {
  if (isQuantity(left) && isQuantity(right)) return compareQuantities(left, right, convert)
  if (isTemporal(left) && isTemporal(right) && (left.kind === 'time') === (right.kind === 'time')) return compareTemporals(left, right)
  throw evaluationProblem(`${systemTypeOf(left)} and ${systemTypeOf(right)} have no order`)
}

function single(items: Items): SystemValue {
  if (items.length > 1) throw evaluationProblem(`a single value is needed, but there are ${items.length} items`)
  return orderable(items[0])
}

function orderable(item: Item | undefined): SystemValue {
  const value = toSystem(item)
  if (value !== undefined) return value
  const type = typeof item === 'object' && item.kind === 'node' ? item.type.name : 'type'
  throw evaluationProblem(`a value of type ${quoted(type)} has no order`)
}

/**
 * Compares two dates or times: negative, zero or positive; `undefined` when that depends on what a partial value leaves open, when
 * only one has a time zone and both have a time, or when one is a time and the other is not.
 */
export function compareTemporals(left: Temporal, right: Temporal): number | undefined {
  if ((left.kind === 'time') !== (right.kind === 'time')) return undefined
  if (left.kind === 'time' || left.fields.length <= HOUR || right.fields.length <= HOUR) return compareFields(left, right)
  if ((left.offset === undefined) !== (right.offset === undefined)) return farApart(left, right)
  return compareFields(inUtc(left), inUtc(right))
}

/** Whether both have the same fields and no difference; never unknown. */
export function sameTemporal(left: Temporal, right: Temporal): boolean {
  return left.fields.length === right.fields.length && compareTemporals(left, right) === 0
}

function compareFields(left: Temporal, right: Temporal): number | undefined {
  const shared = Math.min(left.fields.length, right.fields.length)
  for (let i = 0; i < shared; i++) {
    const difference = (left.fields[i] ?? 0) - (right.fields[i] ?? 0)
    if (difference !== 0) return difference
  }
  return left.fields.length === right.fields.length ? 0 : undefined
}

const MAX_ZONE_DISTANCE_MS = 26 * 3_600_000

/** A missing time zone leaves the order open only where zones could change it. */
function farApart(left: Temporal, right: Temporal): number | undefined {
  const difference = epochMs(left) - epochMs(right)
  return Math.abs(difference) > MAX_ZONE_DISTANCE_MS ? difference : undefined
}

function inUtc(value: Temporal): Temporal {
  if (value.offset === undefined || value.offset === 0) return value
  const { fields } = temporalOf(new Date(epochMs({ ...value, fields: value.fields.slice(0, 5) })))
  return { ...value, fields: fields.with(5, value.fields[5] ?? 0).slice(0, value.fields.length), offset: 0 }
}
