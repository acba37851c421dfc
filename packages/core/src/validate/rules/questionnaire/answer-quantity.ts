import { quoted } from '../../../errors/index.js'
import { PENDING } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import { measureOf } from '../../../ucum/index.js'
import { extensionValues } from '../../profile/value-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { VALUE_SET_UNKNOWN } from '../codes/value-set-problems.js'
import type { ResponseCheck, ValuedAnswer } from './form.js'

/** An answer outside the limits of its question: value, length, size, lines. */
export const ANSWER_LIMIT: FindingDefinition = defineFinding(
  'answer-limit',
  'error',
  'invariant',
  'Answer within the limits of the question.',
)
/** A quantity in a unit that its question does not allow. */
export const ANSWER_UNIT: FindingDefinition = defineFinding('answer-unit', 'error', 'invariant', 'Use a unit that the question allows.')

const MIN = 'http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-minQuantity'
const MAX = 'http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-maxQuantity'
const UNIT_OPTION = 'http://hl7.org/fhir/StructureDefinition/questionnaire-unitOption'
const UNIT_VALUE_SET = 'http://hl7.org/fhir/StructureDefinition/questionnaire-unitValueSet'

/** Checks the unit of a quantity, and its minimum and maximum. */
export function checkQuantity(check: ResponseCheck, { value, item }: ValuedAnswer): void {
  const quantity = value.value
  if (value.type.name !== 'Quantity' || !isObject(quantity)) return
  const say = (finding: FindingDefinition, text: string): void =>
    check.run.findings.report(finding, value, { text, profile: check.form.canonical })
  for (const text of [unitProblem(quantity, item.json), unitSetProblem(check, quantity, item.json)])
    if (text !== undefined) say(ANSWER_UNIT, text)
  const unknown = unknownUnitSet(check, item.json)
  if (unknown !== undefined) {
    const text = `The value set ${quoted(unknown)} of the units could not be found.`
    check.run.findings.report(VALUE_SET_UNKNOWN, value, { text, code: 'invariant', profile: check.form.canonical })
  }
  for (const bound of BOUNDS) {
    const text = boundProblem(quantity, extensionValues(item.json, bound.url)[0], bound)
    if (text !== undefined) say(ANSWER_LIMIT, text)
  }
}

interface Bound {
  readonly url: string
  readonly words: string
  readonly isBroken: (order: number) => boolean
}

const BOUNDS: readonly Bound[] = [
  { url: MIN, words: 'less than the least that is allowed', isBroken: (order) => order < 0 },
  { url: MAX, words: 'more than the most that is allowed', isBroken: (order) => order > 0 },
]

function boundProblem(quantity: JsonObject, limit: unknown, { words, isBroken }: Bound): string | undefined {
  if (!isObject(limit)) return undefined
  const result = compareQuantity(quantity, limit)
  if (result === 'no-units') return `${shown(quantity)} cannot be compared with ${shown(limit)}: both need a system and code of the unit.`
  if (result === 'other-system') return `${shown(quantity)} cannot be compared with ${shown(limit)}: only units of UCUM are converted.`
  if (result === 'other-kind') return `${shown(quantity)} cannot be compared with ${shown(limit)}: the units measure different things.`
  return result !== undefined && isBroken(result) ? `${shown(quantity)} is ${words}, ${shown(limit)}.` : undefined
}

function unitProblem(quantity: JsonObject, item: JsonObject): string | undefined {
  const options = extensionValues(item, UNIT_OPTION).filter(isObject)
  if (options.length === 0 || options.some((option) => isUnit(quantity, option))) return undefined
  const names = options.map((option) => quoted(stringAt(option, 'display') ?? stringAt(option, 'code') ?? ''))
  return `The unit of ${shown(quantity)} is not allowed; allowed: ${names.join(', ')}.`
}

function isUnit(quantity: JsonObject, option: JsonObject): boolean {
  const code = stringAt(option, 'code')
  if (code === undefined) return stringAt(quantity, 'unit') === stringAt(option, 'display')
  return stringAt(quantity, 'code') === code && stringAt(quantity, 'system') === stringAt(option, 'system')
}

function unknownUnitSet({ run }: ResponseCheck, item: JsonObject): string | undefined {
  const canonical = extensionValues(item, UNIT_VALUE_SET)[0]
  return typeof canonical === 'string' && run.definitions.valueSet(canonical) === undefined ? canonical : undefined
}

/** The problem with a unit that is not in the value set of units; a unit without code is in none. */
function unitSetProblem({ run }: ResponseCheck, quantity: JsonObject, item: JsonObject): string | undefined {
  const canonical = extensionValues(item, UNIT_VALUE_SET)[0]
  if (typeof canonical !== 'string') return undefined
  const list = run.definitions.valueSet(canonical)
  if (list === undefined || list === PENDING) return undefined
  const code = stringAt(quantity, 'code')
  const isOut = code === undefined || list.has({ system: stringAt(quantity, 'system') ?? '', code }) === 'out'
  return isOut ? `The unit of ${shown(quantity)} is not in the value set ${quoted(canonical)}.` : undefined
}

function shown(quantity: JsonObject): string {
  const unit = stringAt(quantity, 'code') ?? stringAt(quantity, 'unit')
  return quoted(`${String(quantity['value'])}${unit === undefined ? '' : ` ${unit}`}`)
}

const UCUM = 'http://unitsofmeasure.org'

/**
 * The order of a Quantity and another, or why they cannot be compared: `no-units` when one has a unit without code, `other-system` when the units differ and
 * not both are of UCUM, `other-kind` when they measure different things.
 */
type QuantityOrder = number | 'no-units' | 'other-system' | 'other-kind'

/** Compares two Quantities: negative, zero or positive. `undefined` when one has no value, or a unit that is not understood. */
function compareQuantity(a: JsonObject, b: JsonObject): QuantityOrder | undefined {
  const [left, right] = [a['value'], b['value']]
  if (typeof left !== 'number' || typeof right !== 'number') return undefined
  if (!hasUnit(a) && !hasUnit(b)) return left - right
  const [unit, other] = [unitOf(a), unitOf(b)]
  if (unit === undefined || other === undefined) return 'no-units'
  if (unit.system === other.system && unit.code === other.code) return left - right
  if (unit.system !== UCUM || other.system !== UCUM) return 'other-system'
  return compareMeasures({ value: left, code: unit.code }, { value: right, code: other.code })
}

interface Amount {
  readonly value: number
  readonly code: string
}

function compareMeasures(a: Amount, b: Amount): QuantityOrder | undefined {
  const [left, right] = [measureOf(a.code), measureOf(b.code)]
  if (left === undefined || right === undefined) return undefined
  return left.kind === right.kind ? a.value * left.factor - b.value * right.factor : 'other-kind'
}

function unitOf(quantity: JsonObject): { system: string; code: string } | undefined {
  const [system, code] = [stringAt(quantity, 'system'), stringAt(quantity, 'code')]
  return system === undefined || code === undefined ? undefined : { system, code }
}

function hasUnit(quantity: JsonObject): boolean {
  return quantity['unit'] !== undefined || quantity['code'] !== undefined
}
