import { flagAt, nodesAt, typeOf, type ElmNode } from '../elm/node.js'
import { readTypeSpecifier, resultTypeOf, type TypeSpecifier } from '../elm/type-specifier.js'
import { failedEvaluation, invalidElm } from '../problem.js'
import { equal, listHas } from '../values/equality.js'
import {
  asInterval,
  both,
  differenceOf,
  either,
  endOf,
  includes,
  intersectionOf,
  intervalOf,
  isAtMost,
  isBefore,
  isSame,
  isValidInterval,
  meetsBefore,
  negated,
  overlaps,
  pointIn,
  startOf,
  unionOf,
  type PointOrder,
} from '../values/interval.js'
import { sizeOf } from '../values/size.js'
import type { UnitConversion } from '../values/units.js'
import { createValueIndex, type Spend } from '../values/value-index.js'
import { isInterval, isList, type Interval, type Value } from '../values/value.js'
import { quantityWidth } from './expand.js'
import type { Compiler, NodeCompiler, NodeCompilers } from './compiler.js'
import { distinctValues, exceptLists, intersectLists, unionLists } from './list.js'
import { operandsOf, optionalAt, orderAt, pointTypeAt, twoOperands, unary } from './operators.js'

/** Operators on intervals, and those on both lists and intervals (CQL reference, sections 9 and 10). */
export const INTERVAL: NodeCompilers = {
  Interval: selector,
  Start: unary((value) => (isInterval(value) ? startOf(value) : null)),
  End: unary((value) => (isInterval(value) ? endOf(value) : null)),
  Width: unary((value, { convert }, node) => (isInterval(value) ? quantityWidth(value, convert, 'width', node) : null)),
  Size: unary((value, { convert }, node) => (isInterval(value) ? quantityWidth(value, convert, 'size', node) : null)),
  PointFrom: unary((value, { convert }, node) => (isInterval(value) ? onlyPoint(value, convert, node) : null)),
  Overlaps: onIntervals(overlaps),
  OverlapsBefore: onIntervals((a, b, by) => both(isBefore(startOf(a), startOf(b), by), overlaps(a, b, by))),
  OverlapsAfter: onIntervals((a, b, by) => both(isBefore(endOf(b), endOf(a), by), overlaps(a, b, by))),
  Meets: onIntervals((a, b, by) => either(meetsBefore(a, b, by), meetsBefore(b, a, by))),
  MeetsBefore: onIntervals(meetsBefore),
  MeetsAfter: onIntervals((a, b, by) => meetsBefore(b, a, by)),
  Starts: onIntervals((a, b, by) => both(isSame(startOf(a), startOf(b), by), isAtMost(endOf(a), endOf(b), by))),
  Ends: onIntervals((a, b, by) => both(isAtMost(startOf(b), startOf(a), by), isSame(endOf(a), endOf(b), by))),
  Before: onIntervals((a, b, by) => isBefore(endOf(a), startOf(b), by)),
  After: onIntervals((a, b, by) => isBefore(endOf(b), startOf(a), by)),
  SameOrBefore: onIntervals((a, b, by) => isAtMost(endOf(a), startOf(b), by)),
  SameOrAfter: onIntervals((a, b, by) => isAtMost(endOf(b), startOf(a), by)),
  SameAs: onIntervals((a, b, by) => both(isSame(startOf(a), startOf(b), by), isSame(endOf(a), endOf(b), by))),
  In: membership(memberOf),
  Contains: membership(memberOf, 'reversed'),
  ProperIn: membership(properMemberOf),
  ProperContains: membership(properMemberOf, 'reversed'),
  Includes: containment((a, b, by, spend) => included(b, a, by, spend)),
  IncludedIn: containment(included),
  ProperIncludes: containment((a, b, by, spend) => properlyIncluded(b, a, by, spend)),
  ProperIncludedIn: containment(properlyIncluded),
  Union: setOperator(unionOf, unionLists, 'keep'),
  Intersect: setOperator(intersectionOf, intersectLists, 'null'),
  Except: setOperator(differenceOf, exceptLists, 'left'),
}

function selector(...[node, scope, compiler]: Parameters<NodeCompiler>): ReturnType<NodeCompiler> {
  const [low, high] = [optionalAt(node, 'low', scope, compiler), optionalAt(node, 'high', scope, compiler)]
  const [lowClosed, highClosed] = [
    optionalAt(node, 'lowClosedExpression', scope, compiler),
    optionalAt(node, 'highClosedExpression', scope, compiler),
  ]
  const [lowFlag, highFlag] = [flagAt(node, 'lowClosed') ?? true, flagAt(node, 'highClosed') ?? true]
  const pointType = pointTypeAt(node)
  return (evaluation) => {
    const [lowValue, highValue] = [low(evaluation), high(evaluation)]
    evaluation.spend(1)
    if (lowValue === null && highValue === null && pointType === undefined) return null
    const made = intervalOf({
      low: lowValue,
      high: highValue,
      lowClosed: (lowClosed(evaluation) ?? lowFlag) === true,
      highClosed: (highClosed(evaluation) ?? highFlag) === true,
      pointType,
    })
    if (!isValidInterval(made, compiler.convert))
      throw failedEvaluation('The low bound of an interval must not be above the high bound.', node)
    return made
  }
}

function onlyPoint(interval: Interval, convert: Compiler['convert'], node: ElmNode): Value {
  const [start, end] = [startOf(interval), endOf(interval)]
  if (start === null || end === null) return null
  if (equal(start, end, convert) !== true) throw failedEvaluation('point from needs an interval of one point.', node)
  return start
}

/** Steps of comparing or combining two intervals. */
const INTERVAL_STEPS = 2

type IntervalRelation = (a: Interval, b: Interval, by: PointOrder) => boolean | null

/** Compiles a relation of two intervals or points; null if one is null. */
function onIntervals(relation: IntervalRelation): NodeCompiler {
  return (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    const by = orderAt(node, compiler)
    return (evaluation) => {
      const [a, b] = [asInterval(left(evaluation)), asInterval(right(evaluation))]
      evaluation.spend(INTERVAL_STEPS)
      return a === null || b === null ? null : relation(a, b, by)
    }
  }
}

/** Number of pairs of items of lists or tuples that are compared in one step. */
const ITEMS_OF_STEP = 8

type Membership = (item: Value, whole: Interval | readonly Value[], by: PointOrder, spend: Spend) => boolean | null

/** Whether a value is in a list or interval; the operands of `Contains` are reversed. */
function membership(test: Membership, order: 'in order' | 'reversed' = 'in order'): NodeCompiler {
  return (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    const [item, whole] = order === 'reversed' ? [right, left] : [left, right]
    const by = orderAt(node, compiler)
    // The translator types the null in `{ 1 } included in null` as an interval of lists, which nothing can be in; it is meant as a list.
    const isNullList = staticOperand(node, order === 'reversed' ? 0 : 1)?.kind === 'interval'
    return (evaluation) => {
      const [value, container] = [item(evaluation), whole(evaluation)]
      if (container === null) return isNullList && isList(value) ? null : false
      if (!isList(container) && !isInterval(container)) return null
      evaluation.spend(sizeOf(container) + (isList(container) ? (container.length * sizeOf(value)) / ITEMS_OF_STEP : 0))
      return test(value, container, by, evaluation.spend)
    }
  }
}

/** The static type of an operand, from the signature or its result type. */
function staticOperand(node: ElmNode, index: number): TypeSpecifier | undefined {
  const signature = nodesAt(node, 'signature')[index]
  if (signature !== undefined) return readTypeSpecifier(signature)
  const operand = nodesAt(node, 'operand')[index]
  return operand === undefined ? undefined : resultTypeOf(operand)
}

function memberOf(item: Value, whole: Interval | readonly Value[], by: PointOrder): boolean | null {
  if (isInterval(whole)) return pointIn(item, whole, by)
  return listHas(whole, item, by.convert) || (by.precision !== undefined && whole.some((one) => isSame(one, item, by) === true))
}

function properMemberOf(item: Value, whole: Interval | readonly Value[], by: PointOrder, spend: Spend): boolean | null {
  if (isInterval(whole)) return both(isBefore(startOf(whole), item, by), isBefore(item, endOf(whole), by))
  const distinct = distinctValues(whole, by.convert, spend)
  if (distinct.length < 2) return false
  if (listHas(distinct, item, by.convert)) return true
  return item !== null && distinct.some((one) => one !== null && equal(one, item, by.convert) === null) ? null : false
}

type Containment = (part: Value, whole: Value, by: PointOrder, spend: Spend) => boolean | null

function containment(test: Containment): NodeCompiler {
  return (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    const by = orderAt(node, compiler)
    const flips = typeOf(node).endsWith('Includes')
    const isListType = staticOperand(node, flips ? 0 : 1)?.kind === 'list'
    return (evaluation) => {
      const [a, b] = [left(evaluation), right(evaluation)]
      if (isListType && (flips ? a : b) === null && (flips ? b : a) !== null) return isList(flips ? b : a) ? null : false
      if (a === null || b === null) return null
      evaluation.spend(sizeOf(a) + sizeOf(b))
      return test(a, b, by, evaluation.spend)
    }
  }
}

function included(part: Value, whole: Value, by: PointOrder, spend: Spend): boolean | null {
  if (isList(whole)) return areIn(isList(part) ? part : [part], whole, by, spend)
  if (!isInterval(whole)) return null
  return isInterval(part) ? includes(whole, part, by) : pointIn(part, whole, by)
}

function areIn(items: readonly Value[], whole: readonly Value[], { convert }: PointOrder, spend: Spend): boolean {
  const index = createValueIndex(whole, convert, spend)
  return items.every((item) => index.has(item))
}

function properlyIncluded(part: Value, whole: Value, by: PointOrder, spend: Spend): boolean | null {
  if (isList(whole)) {
    const items = isList(part) ? part : [part]
    return whole.length > items.length && areIn(items, whole, by, spend)
  }
  if (!isInterval(whole)) return null
  if (!isInterval(part)) return properMemberOf(part, whole, by, spend)
  const same = both(isSame(startOf(whole), startOf(part), by), isSame(endOf(whole), endOf(part), by))
  return both(includes(whole, part, by), negated(same))
}

type IntervalOperation = (a: Interval, b: Interval, by: PointOrder) => Interval | null
type ListOperation = (a: readonly Value[], b: readonly Value[], convert: UnitConversion, spend: Spend) => readonly Value[]

/** Union, intersection or difference of two or more values, from left to right. Null lists count as empty for `union`, and on the right of `except`. */
function setOperator(onPair: IntervalOperation, onLists: ListOperation, nullList: 'keep' | 'null' | 'left'): NodeCompiler {
  return (node, scope, compiler) => {
    const [first, second, ...more] = operandsOf(node, scope, compiler)
    if (first === undefined || second === undefined) throw invalidElm(node, `${typeOf(node)} must have two operands or more.`)
    const by = orderAt(node, compiler)
    const isListType = staticOperand(node, 0)?.kind === 'list'
    const ofTwo = (a: Value, b: Value, spend: Spend): Value => {
      if (isInterval(a) && isInterval(b)) {
        spend(INTERVAL_STEPS)
        return onPair(a, b, by)
      }
      const isOfLists = isListType || isList(a) || isList(b)
      const [left, right] = [listOf(a, isOfLists && nullList === 'keep'), listOf(b, isOfLists && nullList !== 'null')]
      if (left === undefined || right === undefined) return null
      spend(sizeOf(a) + sizeOf(b))
      return onLists(left, right, compiler.convert, spend)
    }
    return (evaluation) => {
      let result = ofTwo(first(evaluation), second(evaluation), evaluation.spend)
      for (const next of more) result = ofTwo(result, next(evaluation), evaluation.spend)
      return result
    }
  }
}

/** The items of a list; empty for null if `isNullEmpty`. */
function listOf(value: Value, isNullEmpty: boolean): readonly Value[] | undefined {
  if (isList(value)) return value
  return value === null && isNullEmpty ? [] : undefined
}
