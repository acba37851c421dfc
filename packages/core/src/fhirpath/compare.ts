import { quoted } from '../errors/index.js'
import { isDecimal, isQuantity, isTemporal, type Item, type Items, type SystemValue } from './item.js'
import { evaluationProblem } from './problem.js'
import { compareQuantities, type UnitConversion } from './quantity.js'
import { compareTemporals } from './temporal-compare.js'
import { systemTypeOf, toSystem } from './to-system.js'

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
