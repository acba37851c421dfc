import { quoted } from '../errors/index.js'
import { isObject } from '../json/index.js'
import { spend, spendReading, spendWriting, type Run } from './code.js'
import { placesOf, roundTo } from './decimal.js'
import {
  isDecimal,
  isNode,
  isQuantity,
  isTemporal,
  systemTypeOf,
  toSystem,
  type Item,
  type Items,
  type SystemValue,
  type TypeInfo,
} from './item.js'
import { evaluationProblem } from './problem.js'
import { compareQuantities, inUnit, type Quantity, type UnitConversion } from './quantity.js'
import { epochMs, HOUR, temporalOf, type Temporal } from './temporal.js'

/**
 * Compares two collections of at most one item: negative, zero or positive; `undefined` when one is empty or the order is unknown.
 *
 * @throws {OperationError} `fhirpath-invalid` for several items or types without an order.
 * @see https://hl7.org/fhirpath/N1/#comparison
 */
export function compareItems(run: Run, left: Items, right: Items): number | undefined {
  if (left.length === 0 || right.length === 0) return undefined
  return compareValues(run, single(left), single(right))
}

/** Compares two values. @throws {OperationError} `fhirpath-invalid` for types without an order. */
export function compareValues(run: Run, left: SystemValue, right: SystemValue): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') return compareText(run, left, right)
  const [leftNumber, rightNumber] = [numberOf(left), numberOf(right)]
  if (leftNumber !== undefined && rightNumber !== undefined) return leftNumber - rightNumber
  return compareObjects(left, right, run.context.host?.convertUnit)
}

/** Returns the number of an Integer or Decimal. */
export function numberOf(value: SystemValue | undefined): number | undefined {
  if (typeof value === 'number') return value
  return isDecimal(value) ? value.value : undefined
}

function compareText(run: Run, left: string, right: string): number {
  spendReading(run, Math.min(left.length, right.length))
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
 * Compares two dates or times: negative, zero or positive; `undefined` when the order depends on missing fields of a partial value, when
 * only one has a time zone and both have a time, or when only one is a time.
 */
function compareTemporals(left: Temporal, right: Temporal): number | undefined {
  if ((left.kind === 'time') !== (right.kind === 'time')) return undefined
  if (left.kind === 'time' || left.fields.length <= HOUR || right.fields.length <= HOUR) return compareFields(left, right)
  if ((left.offset === undefined) !== (right.offset === undefined)) return farApart(left, right)
  return compareFields(inUtc(left), inUtc(right))
}

/** True if both have the same precision and are equal; never unknown. */
function sameTemporal(left: Temporal, right: Temporal): boolean {
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

/** Compares values of which one has no time zone: the order is unknown only where zones could change it. */
function farApart(left: Temporal, right: Temporal): number | undefined {
  const difference = epochMs(left) - epochMs(right)
  return Math.abs(difference) > MAX_ZONE_DISTANCE_MS ? difference : undefined
}

function inUtc(value: Temporal): Temporal {
  if (value.offset === undefined || value.offset === 0) return value
  const { fields } = temporalOf(new Date(epochMs({ ...value, fields: value.fields.slice(0, 5) })))
  return { ...value, fields: fields.with(5, value.fields[5] ?? 0).slice(0, value.fields.length), offset: 0 }
}

/**
 * Compares collections by equality (`=`): the same items in the same order; `undefined` when one is empty or the equality of a pair is unknown.
 *
 * @see https://hl7.org/fhirpath/N1/#equals
 */
export function equalItems(run: Run, left: Items, right: Items): boolean | undefined {
  if (left.length === 0 || right.length === 0) return undefined
  if (left.length !== right.length) return false
  let result: boolean | undefined = true
  for (let i = 0; i < left.length; i++) {
    const equal = equal1(run, left[i], right[i])
    if (equal === false) return false
    if (equal === undefined) result = undefined
  }
  return result
}

/** Compares two items by equality; `undefined` when it is unknown because of precisions, time zones or units. */
export function equal1(run: Run, left: Item | undefined, right: Item | undefined): boolean | undefined {
  const [leftValue, rightValue] = [toSystem(left), toSystem(right)]
  if (leftValue !== undefined && rightValue !== undefined) return equalValues(run, leftValue, rightValue)
  if (isNode(left) && isNode(right))
    return left.value === undefined ? sameJson(run, left.extra, right.extra) : sameJson(run, left.value, right.value)
  if (isType(left) && isType(right)) return left.namespace === right.namespace && left.name === right.name
  return false
}

/** Compares JSON values deeply. */
function sameJson(run: Run, left: unknown, right: unknown): boolean {
  spend(run, 1)
  if (typeof left === 'string' && typeof right === 'string') return sameText(run, left, right)
  if (left === right) return true
  if (Array.isArray(left))
    return Array.isArray(right) && left.length === right.length && left.every((item, i) => sameJson(run, item, right[i]))
  if (!isObject(left) || !isObject(right)) return false
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(run, left[key], right[key]))
}

/** Texts are read only if they have one length. */
function sameText(run: Run, left: string, right: string): boolean {
  if (left.length === right.length) spendReading(run, left.length)
  return left === right
}

function equalValues(run: Run, left: SystemValue, right: SystemValue): boolean | undefined {
  if (typeof left === 'string' && typeof right === 'string') return sameText(run, left, right)
  if (typeof left !== 'object' && typeof right !== 'object') return left === right
  const leftNumber = numberOf(left)
  if (leftNumber !== undefined) return leftNumber === numberOf(right)
  if (isQuantity(left) && isQuantity(right)) return isZero(compareQuantities(left, right, run.context.host?.convertUnit))
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
 * Compares collections by equivalence (`~`): the same items in any order, compared leniently. Never unknown.
 *
 * @see https://hl7.org/fhirpath/N1/#equivalent
 */
export function equivalentItems(run: Run, left: Items, right: Items): boolean {
  if (left.length !== right.length) return false
  return inAnyOrder(left, right, (item, candidate) => equivalent1(run, item, candidate))
}

/** True if each item of a list has one of its own in another list of the same length. */
function inAnyOrder<T>(left: readonly T[], right: readonly T[], matches: (item: T, candidate: T) => boolean): boolean {
  const open = [...right]
  return left.every((item) => {
    const found = open.findIndex((candidate) => matches(item, candidate))
    if (found >= 0) open.splice(found, 1)
    return found >= 0
  })
}

/** Normalises text for equivalence: lower case, single spaces. */
function normalised(run: Run, text: string): string {
  spendWriting(run, text.length)
  return text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
}

function equivalent1(run: Run, left: Item, right: Item): boolean {
  spend(run, 1)
  const [leftValue, rightValue] = [toSystem(left), toSystem(right)]
  if (leftValue !== undefined && rightValue !== undefined) return equivalentValues(run, leftValue, rightValue)
  if (isNode(left) && isNode(right)) return equivalentJson(run, left.value, right.value)
  return equal1(run, left, right) === true
}

function equivalentValues(run: Run, left: SystemValue, right: SystemValue): boolean {
  if (typeof left === 'string' && typeof right === 'string') return normalised(run, left) === normalised(run, right)
  const [leftNumber, rightNumber] = [numberOf(left), numberOf(right)]
  if (leftNumber !== undefined && rightNumber !== undefined) return equivalentNumbers(leftNumber, rightNumber)
  if (isQuantity(left) && isQuantity(right)) return equivalentQuantities(left, right, run.context.host?.convertUnit)
  if (isTemporal(left) && isTemporal(right)) return sameTemporal(left, right)
  return left === right
}

/** Compares quantities by equivalence: values are rounded like numbers; a calendar year or month is equivalent to the definite one. */
function equivalentQuantities(left: Quantity, right: Quantity, convert: UnitConversion | undefined): boolean {
  const converted = inUnit(inDefiniteUnit(right), inDefiniteUnit(left).unit, convert)
  return converted !== undefined && equivalentNumbers(left.value.value, converted.value.value)
}

function inDefiniteUnit(quantity: Quantity): Quantity {
  if (quantity.unit === 'a') return { ...quantity, unit: 'year' }
  return quantity.unit === 'mo' ? { ...quantity, unit: 'month' } : quantity
}

/** Compares numbers by equivalence, rounded to the places of the less precise one. */
function equivalentNumbers(left: number, right: number): boolean {
  const places = Math.min(placesOf(left), placesOf(right))
  return roundTo(left, places) === roundTo(right, places)
}

function equivalentJson(run: Run, left: unknown, right: unknown): boolean {
  spend(run, 1)
  if (typeof left === 'string' && typeof right === 'string') return normalised(run, left) === normalised(run, right)
  if (typeof left === 'number' && typeof right === 'number') return equivalentNumbers(left, right)
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && inAnyOrder(left, right, (item, candidate) => equivalentJson(run, item, candidate))
  if (!isObject(left) || !isObject(right)) return left === right
  const keys = Object.keys(left).filter((key) => key !== 'id')
  const others = Object.keys(right).filter((key) => key !== 'id')
  return keys.length === others.length && keys.every((key) => Object.hasOwn(right, key) && equivalentJson(run, left[key], right[key]))
}

/** A set of items by equality (`=`); items whose equality is unknown count as different. */
interface ItemSet {
  has(item: Item): boolean
  /** Adds the item unless the set has an equal one. Returns whether it was added. */
  add(item: Item): boolean
}

/** Steps that an item takes which is kept in a set. */
const STEPS_OF_ENTRY = 4

/** Creates a set; comparisons count as steps of the run. */
export function itemSet(run: Run, items: Items = []): ItemSet {
  const buckets = new Map<string, Item[]>()
  const has = (item: Item, bucket: readonly Item[] | undefined): boolean => {
    if (bucket === undefined) return false
    spend(run, bucket.length)
    return bucket.some((known) => equal1(run, known, item) === true)
  }
  const set: ItemSet = {
    has: (item) => has(item, buckets.get(bucketOf(run, item))),
    add(item) {
      spend(run, STEPS_OF_ENTRY)
      const key = bucketOf(run, item)
      const bucket = buckets.get(key)
      if (has(item, bucket)) return false
      if (bucket === undefined) buckets.set(key, [item])
      else bucket.push(item)
      return true
    },
  }
  for (const item of items) set.add(item)
  return set
}

/** Removes items that equal an earlier one. */
export function distinct(run: Run, items: Items): Items {
  if (items.length < 2) return items
  const set = itemSet(run)
  return items.filter((item) => set.add(item))
}

/** Returns a key that is the same for equal items. */
function bucketOf(run: Run, item: Item): string {
  const value = toSystem(item)
  if (typeof value === 'string') spendReading(run, value.length)
  if (typeof value === 'object')
    return value.kind === 'decimal' ? `number ${value.value}` : value.kind === 'quantity' ? 'quantity' : 'temporal'
  if (value !== undefined) return `${typeof value} ${value}`
  if (typeof item !== 'object' || item.kind !== 'node') return 'type'
  return isObject(item.value) ? `object ${Object.keys(item.value).sort().join(' ')} ${scalars(item.value)}` : 'extension'
}

function scalars(json: { readonly [name: string]: unknown }): string {
  return ['code', 'value', 'system', 'reference', 'url', 'linkId', 'id'].map((name) => scalar(json[name])).join(' ')
}

function scalar(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 100) : ''
}
