import { OperationError, quoted } from '../../../errors/index.js'
import type { FhirNode, TypeModel } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { didYouMean, nearest } from '../../../text/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { EntryProfile } from '../../run/indexes.js'
import type { Run } from '../../run/run.js'
import { isConcrete } from '../structure/resource-type.js'

/** A profile of the request for entries of Bundles that none of them was checked against. */
export const BUNDLE_RULE_UNUSED: FindingDefinition = defineFinding(
  'bundle-rule-unused',
  'warning',
  'informational',
  'Check that the rule selects the entries that it is meant for, counted from 0.',
)

/** A position, a type, or a type and a position, separated by a colon. */
const RULE = /^(?:([A-Za-z]+)(?::(0|[1-9]\d{0,8}))?|(0|[1-9]\d{0,8}))$/

/** An entry may be checked against as many profiles. */
const MOST_RULES = 100

/**
 * Reads the rules that select entries of Bundles.
 *
 * @throws {OperationError} `parameter-value` for a rule that is neither a position nor a type of resources, nor both; `too-costly` for more than 100.
 */
export function entryProfilesOf(
  model: TypeModel | undefined,
  rules: readonly { readonly rule: string; readonly profile: string }[],
): readonly EntryProfile[] {
  if (rules.length > MOST_RULES)
    throw new OperationError('too-costly', `There are ${rules.length} rules for entries of Bundles; at most ${MOST_RULES} are allowed.`, {
      expression: ['bundle'],
    })
  return rules.map(({ rule, profile }) => {
    const match = RULE.exec(rule)
    const [, type, indexOfType, indexOfAll] = match ?? []
    if (match === null)
      throw wrong(
        `The rule ${quoted(rule)} selects no entry of a Bundle: give a type (Patient), a position from 0 (2), or both (Patient:0).`,
      )
    if (type !== undefined && model !== undefined && !isConcrete(model, type)) {
      const hint = didYouMean(
        nearest(
          type,
          [...model.names()].filter((name) => isConcrete(model, name)),
        ),
      )
      throw wrong(
        `The rule ${quoted(rule)} names ${quoted(type)}, which is not a type of resources.${hint === undefined ? '' : ` ${hint}`}`,
      )
    }
    if (profile.trim() === '') throw wrong(`The rule ${quoted(rule)} has no profile.`)
    return { rule, isOne: (indexOfType ?? indexOfAll) !== undefined, canonical: profile }
  })
}

function wrong(message: string): OperationError {
  return new OperationError('parameter-value', message, { expression: ['bundle'] })
}

/** The profiles of the request for a resource; none unless it is that of an entry. */
export function entryProfilesFor(run: Run, { slot, parent: entry }: FhirNode): readonly EntryProfile[] {
  const bundle = slot?.name === 'resource' && entry?.type.name === 'Bundle.entry' ? entry.parent?.value : undefined
  if (entry === undefined || !isObject(bundle)) return NONE
  const known = run.indexes.entryProfiles.get(bundle)
  const selected = known ?? selectedIn(run, bundle['entry'])
  if (known === undefined) run.indexes.entryProfiles.set(bundle, selected)
  return selected.get(entry.index) ?? NONE
}

const NONE: readonly EntryProfile[] = []

/** The profiles for the resource of each entry, by its position. A Bundle may have thousands, so they are counted once. */
function selectedIn({ entryProfiles }: Run, entries: unknown): ReadonlyMap<number, readonly EntryProfile[]> {
  const selected = new Map<number, readonly EntryProfile[]>()
  const byRule = Map.groupBy(entryProfiles, ({ rule }) => rule)
  const counts = new Map<string, number>()
  for (const [position, entry] of (Array.isArray(entries) ? entries : []).entries()) {
    const resource: unknown = isObject(entry) ? entry['resource'] : undefined
    if (!isObject(resource)) continue
    const type = stringAt(resource, 'resourceType') ?? ''
    const rank = counts.get(type) ?? 0
    counts.set(type, rank + 1)
    const own = [type, `${type}:${rank}`, String(position)].flatMap((rule) => byRule.get(rule) ?? [])
    if (own.length > 0) selected.set(position, own)
  }
  return selected
}

/** Reports the profiles of the request that no entry was checked against, so that a wrong rule does not look like a Bundle without errors. */
export function reportUnusedEntryProfiles(run: Run): void {
  if (run.root.type.name !== 'Bundle') return
  const used = new Set([...run.indexes.entryProfiles.values()].flatMap((selected) => [...selected.values()].flat()))
  for (const one of run.entryProfiles)
    if (!used.has(one))
      run.findings.report(BUNDLE_RULE_UNUSED, run.root, {
        text: `No entry is selected by the rule ${quoted(one.rule)}, so nothing was checked against the profile ${quoted(one.canonical)} for it.`,
        ...(!one.isOne && { severity: 'information' }),
      })
}
