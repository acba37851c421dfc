import type { OperationContext } from 'fhir-ops/context'
import type { SearchOptions } from 'fhir-ops/search'
import type { Condition } from 'fhir-ops/storage'
import type { LoadedLibrary } from '../libraries/content.js'
import type { Prepared } from '../measure/prepare.js'
import type { Unit } from '../requirements/units.js'

/** Context for deciding criteria. */
export interface Deciding {
  readonly ctx: OperationContext
  readonly search: SearchOptions
  readonly prepared: Prepared
  /** Type of the subjects. */
  readonly subjectType: string
}

/** The place of a node that is decided. */
export interface Place extends Deciding {
  readonly loaded: LoadedLibrary
  readonly unit: Unit
}

/** The subjects for which searches decide a criterion, without reading anything. */
export interface Decision {
  /** Subjects for which it is true. */
  readonly yes: Condition
  /** Subjects for which it is false. For all others it is unknown or null. */
  readonly no: Condition
  /** Whether its evaluation cannot fail. */
  readonly isSafe: boolean
  /** Whether it is known for all subjects. */
  readonly isWhole: boolean
}

const NOBODY: Condition = { kind: 'or', conditions: [] }

/** Nothing is known. */
export const UNKNOWN: Decision = { yes: NOBODY, no: NOBODY, isSafe: false, isWhole: false }

/** True for subjects that meet a condition, and false for all others. */
export function decidedBy(yes: Condition): Decision {
  return { yes, no: negated(yes), isSafe: true, isWhole: true }
}

/** False for subjects that do not meet a condition; unknown for the others. */
export function onlyFor(perhaps: Condition): Decision {
  return { ...UNKNOWN, no: negated(perhaps) }
}

/** `A and B`: B is not evaluated for subjects for which A is false. */
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

/** `A or B`: B is not evaluated for subjects for which A is true. */
export function eitherOf(one: Decision, other: Decision): Decision {
  return negation(bothOf(negation(one), negation(other)))
}

/** `not A`. */
export function negation({ yes, no, ...rest }: Decision): Decision {
  return { yes: no, no: yes, ...rest }
}

/** The conjunction of conditions. */
export function allOf(...conditions: readonly Condition[]): Condition {
  const [only] = conditions
  if (conditions.some(isOfNobody)) return NOBODY
  return conditions.length === 1 && only !== undefined ? only : { kind: 'and', conditions }
}

/** The disjunction of conditions. */
export function anyOf(...conditions: readonly Condition[]): Condition {
  const others = conditions.filter((condition) => !isOfNobody(condition))
  const [only] = others
  return others.length === 1 && only !== undefined ? only : { kind: 'or', conditions: others }
}

/** Whether no resource can meet a condition. */
export function isOfNobody(condition: Condition): boolean {
  return condition.kind === 'or' && condition.conditions.length === 0
}

/** The negation of a condition. */
export function negated(condition: Condition): Condition {
  return condition.kind === 'not' ? condition.condition : { kind: 'not', condition }
}
