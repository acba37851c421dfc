import type { MissedBy } from 'fhir-ops/internal/explain'
import type { HelperContext } from '../model/fhir-helpers.js'
import { nodeAt, nodesAt, typeOf, type ElmNode } from '../elm/node.js'
import { decimalOf } from '../values/compare.js'
import { numberOf } from '../values/decimal.js'
import { isCode, isConcept, isFhir, isInterval, isList, isQuantity, isTemporal, type Interval, type Value } from '../values/value.js'
import type { ClauseTexts } from './clause-text.js'
import { shownValue } from './shown-value.js'
import type { Entry } from './trace.js'

/** Why a comparison is not true. */
interface Miss {
  readonly missedBy: MissedBy
  readonly distance?: { readonly value: number; readonly unit: string }
  /** Describes what was compared. */
  readonly detail: string
}

/** Texts and context for the description of comparisons. */
export interface Words {
  readonly texts: ClauseTexts
  readonly context: HelperContext
}

const CONSTANTS: ReadonlySet<string> = new Set(['Literal', 'Null', 'Quantity', 'ParameterRef', 'CodeRef', 'ConceptRef', 'Code', 'Concept'])
const OF_CONSTANTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['List', ['element']],
  ['Interval', ['low', 'high']],
  ['ToConcept', ['operand']],
  ['ToDecimal', ['operand']],
  ['ToList', ['operand']],
  ['As', ['operand']],
])

/** Whether the text of a node already shows its value. */
function isConstant(node: ElmNode): boolean {
  if (CONSTANTS.has(typeOf(node))) return true
  const members = OF_CONSTANTS.get(typeOf(node))
  return members !== undefined && members.every((member) => nodesAt(node, member).every((inner) => isConstant(inner)))
}

/** An operand with its text and, if it was evaluated, its value. */
interface Operand {
  readonly node: ElmNode
  readonly text: string
  readonly value: Value | undefined
}

/** Describes what a comparison compared, and how far it is from being true. */
export function missOf(entry: Entry, words: Words): Miss {
  const { texts, context } = words
  const { node, library } = entry.of
  const operands = operandNodes(node).map((operand): Operand => ({
    node: operand,
    text: texts.of(operand, library),
    value: entry.children.find(({ of }) => of.node === operand)?.value,
  }))
  const [left, right] = operands
  if (left === undefined) return { missedBy: 'condition', detail: '' }
  const absent = operands.find(({ value }) => value === null)
  if (absent !== undefined) return { missedBy: 'absent', detail: `${quote(absent.text)} is absent (null)` }
  if (left.value === undefined) return { missedBy: 'condition', detail: `${quote(texts.of(node, library))} does not hold` }
  const set = nodeAt(node, 'valueset') ?? nodeAt(node, 'codesystem')
  if (set !== undefined)
    return {
      missedBy: 'code',
      detail: `${shownValue(left.value, context)} is ${entry.value === true ? '' : 'not '}in ${texts.of(set, library)}`,
    }
  return measured([left.value, right?.value], entry, context) ?? operandValues(operands, entry, words)
}

/** Describes the distance between two values; `undefined` if there is none. */
function measured([left, right]: readonly [Value, Value | undefined], { value }: Entry, context: HelperContext): Miss | undefined {
  const gap = right === undefined || value !== false ? undefined : gapBetween(left, right)
  if (gap === undefined || right === undefined) return undefined
  return {
    missedBy: gap.kind,
    distance: { value: gap.value, unit: gap.unit },
    detail: `${shownValue(left, context)} ${gap.words} ${shownValue(right, context)}`,
  }
}

/** Describes the values of operands that are not constants. */
function operandValues(operands: readonly Operand[], { of, value }: Entry, { texts, context }: Words): Miss {
  const facts = operands.flatMap(({ node, text, value: own }) =>
    own === undefined || isConstant(node) ? [] : [`${quote(text)} is ${shownValue(own, context)}`],
  )
  const isImprecise = value === null && operands.some(({ value: own }) => own !== undefined && isTemporal(own))
  const detail = facts.join(' and ') || quote(texts.of(of.node, of.library))
  return { missedBy: kindOf(operands[0], isImprecise), detail: isImprecise ? `${detail}, which is not precise enough to tell` : detail }
}

function kindOf(operand: Operand | undefined, isImprecise: boolean): MissedBy {
  if (/status/i.test(operand?.text ?? '')) return 'status'
  if (isImprecise) return 'date'
  return operand?.value !== undefined && isCoded(operand.value) ? 'code' : 'value'
}

/** Marks a text as CQL. */
export function quote(text: string): string {
  return `\`${text}\``
}

/** The operands of a comparison. */
export function operandNodes(node: ElmNode): readonly ElmNode[] {
  const code = nodeAt(node, 'code') ?? nodeAt(node, 'codes')
  return code === undefined ? nodesAt(node, 'operand') : [code]
}

function isCoded(value: Value): boolean {
  if (isList(value)) return value[0] !== undefined && isCoded(value[0])
  return isCode(value) || isConcept(value) || (isFhir(value) && (value.type.name === 'CodeableConcept' || value.type.name === 'Coding'))
}

/** A distance, and its description. */
interface Gap {
  readonly kind: 'date' | 'value'
  readonly value: number
  readonly unit: string
  /** Relation of the first value to the second: `is 2 days before`. */
  readonly words: string
}

/** The distance of a date, period or amount from another, or from an interval; `undefined` if it cannot be measured, and if both overlap. */
export function gapBetween(left: Value, right: Value): Gap | undefined {
  const [one, other] = [rangeOf(left), rangeOf(right)]
  if (one === undefined || other === undefined || one.isDate !== other.isDate || one.unit !== other.unit) return undefined
  const isWhole = [one, other].some(({ low, high }) => high - low === DAY_MS - 1)
  const measure = (low: number, high: number): readonly [number, string] =>
    one.isDate ? timeBetween(low, high, isWhole ? DAY_MS : HOUR_MS) : [round(high - low), one.unit]
  const gap = (from: number, to: number, before: string): Gap => {
    const [value, unit] = measure(from, to)
    return { kind: one.isDate ? 'date' : 'value', value, unit, words: `${before.replace('%', `${value}${unit === '' ? '' : ` ${unit}`}`)}` }
  }
  const [below, above] = one.isDate ? ['before', 'after'] : ['below', 'above']
  if (one.high < other.low) return gap(one.high, other.low, `is % ${below}`)
  if (one.low > other.high) return gap(other.high, one.low, `is % ${above}`)
  if (!isInterval(right)) return undefined
  if (one.low < other.low) return gap(one.low, other.low, `begins % ${below}`)
  return one.high > other.high ? gap(other.high, one.high, `ends % ${above}`) : undefined
}

/** A distance as one number, for comparisons. A missing distance is the greatest. */
export function hoursOf(distance: { readonly value: number; readonly unit: string } | undefined): number {
  return distance === undefined ? Number.MAX_VALUE : distance.value * (distance.unit.startsWith('day') ? 24 : 1)
}

interface Range {
  readonly low: number
  readonly high: number
  readonly isDate: boolean
  readonly unit: string
}

function rangeOf(value: Value): Range | undefined {
  if (isInterval(value)) return rangeOfInterval(value)
  if (isTemporal(value)) return value.kind === 'time' ? undefined : { low: value.low, high: value.high, isDate: true, unit: '' }
  const amount = isQuantity(value) ? value.value : decimalOf(value)
  if (amount === undefined) return undefined
  const number = numberOf(amount)
  return { low: number, high: number, isDate: false, unit: isQuantity(value) && value.unit !== '1' ? value.unit : '' }
}

function rangeOfInterval(interval: Interval): Range | undefined {
  const [low, high] = [interval.low, interval.high].map((bound) => (bound === null ? undefined : rangeOf(bound)))
  const known = low ?? high
  if (known === undefined) return undefined
  return { low: low?.low ?? -Infinity, high: high?.high ?? Infinity, isDate: known.isDate, unit: known.unit }
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** The time in days, rounded up; in hours if it is less than a day and times of day are known. */
function timeBetween(from: number, to: number, finest: number): readonly [number, string] {
  const isDays = finest === DAY_MS || to - from >= DAY_MS
  const value = Math.max(1, Math.ceil((to - from) / (isDays ? DAY_MS : HOUR_MS)))
  const unit = isDays ? 'day' : 'hour'
  return [value, value === 1 ? unit : `${unit}s`]
}

function round(value: number): number {
  return Number(value.toPrecision(12))
}
