import type { OperationContext } from 'fhir-ops/context'
import type { SearchOptions } from 'fhir-ops/search'
import type { Condition } from 'fhir-ops/storage'
import type { LoadedLibrary } from '../libraries/content.js'
import type { Prepared } from '../measure/prepare.js'
import type { Unit } from '../requirements/units.js'

/** What criteria are decided in. */
export interface Deciding {
  readonly ctx: OperationContext
  readonly search: SearchOptions
  readonly prepared: Prepared
  /** Type of the subjects. */
  readonly subjectType: string
}

/** Where a node is decided. */
export interface Place extends Deciding {
  readonly loaded: LoadedLibrary
  readonly unit: Unit
}

/** For which subjects a criterion is known from what they are found by, without reading anything. */
export interface Decision {
  /** Who meets this: it is true. */
  readonly yes: Condition
  /** Who meets this: it is false. For all others it is unknown, or null. */
  readonly no: Condition
  /** Whether no evaluation can fail. */
  readonly isSafe: boolean
  /** Whether it is known for everybody. */
  readonly isWhole: boolean
}

const NOBODY: Condition = { kind: 'or', conditions: [] }

/** Nothing is known. */
export const UNKNOWN: Decision = { yes: NOBODY, no: NOBODY, isSafe: false, isWhole: false }

/** True for those who meet a condition, and false for all others. */
export function decidedBy(yes: Condition): Decision {
  return { yes, no: negated(yes), isSafe: true, isWhole: true }
}

/** False for those who do not meet a condition; for the others unknown. */
export function onlyFor(perhaps: Condition): Decision {
  return { ...UNKNOWN, no: negated(perhaps) }
}

/** `A and B`: B is not evaluated for whom A is false. */
export function bothOf(one: Decision, other: Decision): Decision {
  const yes = allOf(one.yes, other.yes)
  if (one.isWhole && other.isWhole) return decidedBy(yes)
  return {
    yes,
    no: anyOf(one.no, one.isSafe ? other.no : allOf(one.yes, other.no)),
    isSafe: one.isSafe && other.isSafe,
    isWhole: false,
  }
}

/** `A or B`: B is not evaluated for whom A is true. */
export function eitherOf(one: Decision, other: Decision): Decision {
  return negation(bothOf(negation(one), negation(other)))
}

/** `not A`. */
export function negation({ yes, no, ...rest }: Decision): Decision {
  return { yes: no, no: yes, ...rest }
}

/** Who meets every condition. */
export function allOf(...conditions: readonly Condition[]): Condition {
  const [only] = conditions
  if (conditions.some(isOfNobody)) return NOBODY
  return conditions.length === 1 && only !== undefined ? only : { kind: 'and', conditions }
}

/** Who meets one of the conditions. */
export function anyOf(...conditions: readonly Condition[]): Condition {
  const others = conditions.filter((condition) => !isOfNobody(condition))
  const [only] = others
  return others.length === 1 && only !== undefined ? only : { kind: 'or', conditions: others }
}

/** Whether no resource can meet a condition. */
export function isOfNobody(condition: Condition): boolean {
  return condition.kind === 'or' && condition.conditions.length === 0
}

/** Who does not meet a condition. */
export function negated(condition: Condition): Condition {
  return condition.kind === 'not' ? condition.condition : { kind: 'not', condition }
}
