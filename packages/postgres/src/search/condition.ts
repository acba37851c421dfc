import type { Condition } from 'fhir-ops/storage'
import type { EntryTests } from './entry-sql.js'

/** A condition on the time of the last write. */
export type Updated = Extract<Condition, { kind: 'lastUpdated' }>
/** A condition on what a resource refers to. */
export type RefersTo = Extract<Condition, { kind: 'refersTo' }>
/** A condition on what refers to a resource. */
export type ReferredBy = Extract<Condition, { kind: 'referredBy' }>

/** The condition as a question about one entry: a test, or several tests of one parameter of which one must hold. */
export function entryTests(condition: Condition): EntryTests | undefined {
  if (condition.kind === 'entry') return { param: condition.param, any: [condition.all] }
  if (condition.kind !== 'or') return undefined
  const tests = condition.conditions.filter((part) => part.kind === 'entry')
  const [first] = tests
  if (first === undefined || tests.length < condition.conditions.length) return undefined
  return tests.every(({ param }) => param === first.param) ? { param: first.param, any: tests.map(({ all }) => all) } : undefined
}

/** The conditions that must all hold. */
export function conjuncts(where: Condition): readonly Condition[] {
  return where.kind === 'and' ? where.conditions : [where]
}

/** The last times that `Date` knows. */
const MAX_TIME = 8_640_000_000_000_000

/** The first and last whole millisecond of a condition. */
export function bounds({ from = -MAX_TIME, to = MAX_TIME }: Updated): readonly [from: number, to: number] {
  return [Math.ceil(Math.max(from, -MAX_TIME)), Math.floor(Math.min(to, MAX_TIME))]
}
