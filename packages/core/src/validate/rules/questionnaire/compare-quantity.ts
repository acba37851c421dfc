import { stringAt, type JsonObject } from '../../../json/index.js'
import { measureOf } from '../../../ucum/index.js'

const UCUM = 'http://unitsofmeasure.org'

/** How a Quantity stands to another: `no-units` when one has a unit without code, `other-kind` when the units measure different things. */
export type QuantityOrder = number | 'no-units' | 'other-kind'

/** Compares two Quantities: negative, zero or positive where they compare; `undefined` when it cannot be told. */
export function compareQuantity(a: JsonObject, b: JsonObject): QuantityOrder | undefined {
  const [left, right] = [a['value'], b['value']]
  if (typeof left !== 'number' || typeof right !== 'number') return undefined
  if (!hasUnit(a) && !hasUnit(b)) return left - right
  const [unit, other] = [unitOf(a), unitOf(b)]
  if (unit === undefined || other === undefined) return 'no-units'
  if (unit.system !== other.system) return undefined
  if (unit.code === other.code) return left - right
  return unit.system === UCUM ? compareMeasures({ value: left, code: unit.code }, { value: right, code: other.code }) : undefined
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
