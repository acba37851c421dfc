import type { Condition } from '../../storage/index.js'
import type { Alternatives } from '../kinds/kind.js'

/** Creates a condition that holds if any of these holds. */
export function anyOf(conditions: readonly Condition[]): Condition {
  const [only] = conditions
  return conditions.length === 1 && only !== undefined ? only : { kind: 'or', conditions }
}

/** Creates a condition that holds if all of these hold. */
export function allOf(conditions: readonly Condition[]): Condition {
  const [only] = conditions
  return conditions.length === 1 && only !== undefined ? only : { kind: 'and', conditions }
}

/** Creates the condition that an entry of the parameter satisfies one of the alternatives. */
export function entryCondition(param: string, alternatives: Alternatives): Condition {
  return anyOf(alternatives.map((all) => ({ kind: 'entry', param, all })))
}

/** Creates the condition that an entry of the parameter has one of the values in a system: codes of a code system, ids of a type. */
export function oneOf(param: string, system: string, values: readonly string[]): Condition {
  return entryCondition(param, [
    [
      { field: 'value', op: 'in', operands: values },
      { field: 'system', op: 'eq', operand: system },
    ],
  ])
}
