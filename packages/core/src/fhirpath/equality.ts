import { isObject } from '../json/index.js'
import { numberOf, compareTemporals, sameTemporal } from './compare.js'
import { placesOf, roundTo } from './decimal.js'
import { isNode, isQuantity, isTemporal, type Item, type Items, type SystemValue, type TypeInfo } from './item.js'
import { compareQuantities, inUnit, type Quantity, type UnitConversion } from './quantity.js'
import { spend, type Run } from './code.js'
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

/**
 * Equivalence of collections (`~`): the same items in any order, compared leniently. Never unknown.
 *
 * @see https://hl7.org/fhirpath/N1/#equivalent
 */
export function equivalentItems(run: Run, left: Items, right: Items): boolean {
  if (left.length !== right.length) return false
  const open = [...right]
  const convert = run.context.host?.convertUnit
  return left.every((item) => {
    spend(run, open.length)
    const found = open.findIndex((candidate) => equivalent1(item, candidate, convert))
    if (found >= 0) open.splice(found, 1)
    return found >= 0
  })
}

/** Text as equivalence compares it: in lower case, with single spaces. */
function normalised(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
}

function equivalent1(left: Item, right: Item, convert: UnitConversion | undefined): boolean {
  const [leftValue, rightValue] = [toSystem(left), toSystem(right)]
  if (leftValue !== undefined && rightValue !== undefined) return equivalentValues(leftValue, rightValue, convert)
  if (isNode(left) && isNode(right)) return equivalentJson(left.value, right.value)
  return equal1(left, right) === true
}

function equivalentValues(left: SystemValue, right: SystemValue, convert: UnitConversion | undefined): boolean {
  if (typeof left === 'string' && typeof right === 'string') return normalised(left) === normalised(right)
  const [leftNumber, rightNumber] = [numberOf(left), numberOf(right)]
  if (leftNumber !== undefined && rightNumber !== undefined) return equivalentNumbers(leftNumber, rightNumber)
  if (isQuantity(left) && isQuantity(right)) return equivalentQuantities(left, right, convert)
  if (isTemporal(left) && isTemporal(right)) return sameTemporal(left, right)
  return left === right
}

/** Amounts are rounded as numbers are; a calendar year or month is equivalent to the definite one. */
function equivalentQuantities(left: Quantity, right: Quantity, convert: UnitConversion | undefined): boolean {
  const converted = inUnit(inDefiniteUnit(right), inDefiniteUnit(left).unit, convert)
  return converted !== undefined && equivalentNumbers(left.value.value, converted.value.value)
}

function inDefiniteUnit(quantity: Quantity): Quantity {
  if (quantity.unit === 'a') return { ...quantity, unit: 'year' }
  return quantity.unit === 'mo' ? { ...quantity, unit: 'month' } : quantity
}

/** Numbers are rounded to the places of the less precise one. */
function equivalentNumbers(left: number, right: number): boolean {
  const places = Math.min(placesOf(left), placesOf(right))
  return roundTo(left, places) === roundTo(right, places)
}

function equivalentJson(left: unknown, right: unknown): boolean {
  if (typeof left === 'string' && typeof right === 'string') return normalised(left) === normalised(right)
  if (typeof left === 'number' && typeof right === 'number') return equivalentNumbers(left, right)
  if (Array.isArray(left) && Array.isArray(right)) return equivalentLists(left, right)
  if (!isObject(left) || !isObject(right)) return left === right
  const keys = Object.keys(left).filter((key) => key !== 'id')
  const others = Object.keys(right).filter((key) => key !== 'id')
  return keys.length === others.length && keys.every((key) => Object.hasOwn(right, key) && equivalentJson(left[key], right[key]))
}

function equivalentLists(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false
  const open = [...right]
  return left.every((item) => {
    const found = open.findIndex((candidate) => equivalentJson(item, candidate))
    if (found >= 0) open.splice(found, 1)
    return found >= 0
  })
}
