import { isObject } from '../json/index.js'
import { numberOf } from './compare.js'
import { isNode, isQuantity, isTemporal, type Item, type Items, type SystemValue, type TypeInfo } from './item.js'
import { compareQuantities, type UnitConversion } from './quantity.js'
import { compareTemporals } from './temporal-compare.js'
import { toSystem } from './to-system.js'

/**
 * Equality of collections (`=`): the same items in the same order; `undefined` when one is empty or a pair leaves it open.
 *
 * @see https://hl7.org/fhirpath/N1/#equals
 */
export function equalItems(left: Items, right: Items, convert?: UnitConversion): boolean | undefined {
  if (left.length === 0 || right.length === 0) return undefined
  if (left.length !== right.length) return false
  let result: boolean | undefined = true
  for (let i = 0; i < left.length; i++) {
    const equal = equal1(left[i], right[i], convert)
    if (equal === false) return false
    if (equal === undefined) result = undefined
  }
  return result
}

/** Equality of two items; `undefined` when precisions, time zones or units leave it open. */
export function equal1(left: Item | undefined, right: Item | undefined, convert?: UnitConversion): boolean | undefined {
  const [leftValue, rightValue] = [toSystem(left), toSystem(right)]
  if (leftValue !== undefined && rightValue !== undefined) return equalValues(leftValue, rightValue, convert)
  if (isNode(left) && isNode(right)) return left.value === undefined ? sameJson(left.extra, right.extra) : sameJson(left.value, right.value)
  if (isType(left) && isType(right)) return left.namespace === right.namespace && left.name === right.name
  return false
}

/** Deep equality of JSON values. */
function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (Array.isArray(left)) return Array.isArray(right) && left.length === right.length && left.every((item, i) => sameJson(item, right[i]))
  if (!isObject(left) || !isObject(right)) return false
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
}

function equalValues(left: SystemValue, right: SystemValue, convert: UnitConversion | undefined): boolean | undefined {
  if (typeof left !== 'object' && typeof right !== 'object') return left === right
  const leftNumber = numberOf(left)
  if (leftNumber !== undefined) return leftNumber === numberOf(right)
  if (isQuantity(left) && isQuantity(right)) return isZero(compareQuantities(left, right, convert))
  if (isTemporal(left) && isTemporal(right))
    return (left.kind === 'time') === (right.kind === 'time') && isZero(compareTemporals(left, right))
  return false
}

function isZero(order: number | undefined): boolean | undefined {
  return order === undefined ? undefined : order === 0
}

function isType(item: Item | undefined): item is TypeInfo {
  return typeof item === 'object' && item.kind === 'type'
}
