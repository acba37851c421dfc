import type { UnitConversion } from '../../../fhirpath/index.js'
import { stringAt, type JsonObject } from '../../../json/index.js'

/** The system of units that limits are compared in. */
export const UCUM = 'http://unitsofmeasure.org'

/** A Quantity and its minimum (-1) or maximum (1). */
export interface LimitedQuantity {
  readonly quantity: JsonObject
  readonly limit: JsonObject
  readonly direction: 1 | -1
}

/** A problem with a value; a warning if it only cannot be decided. */
export interface LimitProblem {
  readonly text: string
  readonly severity?: 'warning'
  readonly code?: 'structure'
}

/** The problem of a Quantity with a limit. Their units decide whether they can be compared: both need the same system and a code, in UCUM of one kind. */
export function quantityProblem({ quantity, limit, direction }: LimitedQuantity, convert: UnitConversion): LimitProblem | undefined {
  const [value, bound] = [quantity['value'], limit['value']]
  const name = direction < 0 ? 'minimum' : 'maximum'
  if (typeof value !== 'number') return { text: `The quantity has no value, so the ${name} cannot be checked.`, severity: 'warning' }
  const obstacle = obstacleTo(quantity, limit)
  if (obstacle !== undefined) return { text: `The value cannot be compared with the ${name}: ${obstacle}.`, severity: 'warning' }
  if (typeof bound !== 'number') return { text: `The ${name} of the profile has no value.` }
  const factor = convert(stringAt(quantity, 'code') ?? '', stringAt(limit, 'code') ?? '')
  if (factor === undefined)
    return { text: `The value cannot be compared with the ${name}: its unit cannot be converted into ${shown(limit)}.` }
  if ((value * factor - bound) * direction <= 0) return undefined
  return {
    text: `The value is ${direction < 0 ? 'less than the specified minimum' : 'more than the specified maximum'} value (${shown(limit)}).`,
  }
}

function obstacleTo(quantity: JsonObject, limit: JsonObject): string | undefined {
  for (const member of ['system', 'code'] as const) {
    const missing = [quantity, limit].findIndex((one) => stringAt(one, member) === undefined)
    if (missing >= 0) return `${missing === 0 ? 'it' : 'that'} has no ${member} of the unit`
  }
  if (quantity['system'] !== limit['system']) return 'the units are of different systems'
  return quantity['system'] !== UCUM && quantity['code'] !== limit['code'] ? 'the units differ' : undefined
}

function shown(limit: JsonObject): string {
  return `${String(limit['value'])} ${stringAt(limit, 'unit') ?? stringAt(limit, 'code') ?? ''}`.trim()
}
