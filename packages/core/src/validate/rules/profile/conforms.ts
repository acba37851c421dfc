import { canonicalOf } from '../../../content/index.js'
import { type FhirNode, pathOf, PENDING } from '../../../fhirpath/index.js'
import { finished } from '../../../work/index.js'
import type { ElementRule, Profile } from '../../run/element-rule.js'
import { createSink, isError, type Finding } from '../../run/finding.js'
import { nothingSeen } from '../../run/indexes.js'
import type { Run } from '../../run/run.js'
import type { Task } from '../../run/scheduler.js'

/** Rules to try, with a unique key for them. */
interface Trial {
  readonly rules: readonly ElementRule[]
  readonly key: string
}

/**
 * Whether a node conforms to rules and to its type; nothing is reported. Faults in its JSON do not count, because they say nothing about what the node is
 * meant to be. If profiles refer to each other in a circle, a trial that has not ended counts as passed.
 */
export function conforms(run: Run, node: FhirNode, trial: Trial): boolean {
  return (
    differenceFrom(run, node, trial) === undefined &&
    firstError({ ...run, checksTypes: true }, node, { rules: [], key: 'type' }) === undefined
  )
}

/** The first error because of which a node does not conform to rules, whatever the faults that it has by its type. */
export function differenceFrom(run: Run, node: FhirNode, trial: Trial): Finding | undefined {
  return firstError({ ...run, checksTypes: false }, node, trial)
}

function firstError(run: Run, node: FhirNode, { rules, key }: Trial): Finding | undefined {
  const { trials } = run.indexes
  const name = `${pathOf(node)} ${key}`
  if (trials.has(name)) return trials.get(name)
  trials.set(name, undefined)
  const sink = createSink(1, { hidesForm: true })
  const policy = { ...run.policy, bestPractice: 'off' as const, mustSupport: 'off' as const, resourceId: 'optional' as const }
  const scheduler = { ...run.scheduler, later: doNow, atEnd: doNow }
  run.visit({ ...run, findings: sink, policy, entryProfiles: [], scheduler, seen: nothingSeen() }, node, rules)
  const error = sink.errors === 0 ? undefined : sink.findings().find(isError)
  trials.set(name, error)
  return error
}

/** Runs a task immediately, because a trial ends when it returns. In a trial only the walk schedules work, and that yields and does not await. */
function doNow(task: Task): void {
  const work = task()
  if (work !== undefined && 'next' in work) finished(work)
}

/**
 * The root rules of a profile and of the profiles that it builds on, or the rule of the element that the canonical's fragment names. Empty while the
 * profile is pending, and when it is not known.
 */
export function profileRoots(run: Run, canonical: string): readonly ElementRule[] {
  const profile = run.definitions.profile(canonical)
  if (profile === undefined || profile === PENDING) return []
  const { fragment } = canonicalOf(canonical)
  if (fragment === undefined) return rootsOf(run, profile)
  const element = profile.elements.get(fragment)
  return element === undefined ? [] : [element]
}

/** Like `profileRoots`, for a compiled profile. */
export function rootsOf(run: Run, profile: Profile): readonly ElementRule[] {
  const roots = [profile.root]
  const seen = new Set([profile.canonical])
  for (let base = profile.base; base !== undefined;) {
    const next = run.definitions.profile(base)
    if (next === undefined || next === PENDING || seen.has(next.canonical)) break
    seen.add(next.canonical)
    roots.push(next.root)
    base = next.base
  }
  return roots
}
