import { quoted } from '../../errors/index.js'
import type { Explain } from '../../explain/index.js'
import { chooseVersion } from '../code-system/system-family.js'
import type { CodeSystemProvider } from '../../code-system/index.js'
import { conceptsFor } from '../filter/operators.js'
import type { TerminologyScope } from '../scope.js'
import type { PartPlan, ValueSetPlan } from '../value-set/plan.js'
import type { Segment } from '../value-set/segment.js'
import { nameOf } from '../value-set/value-set.js'
import type { Work } from '../../work/index.js'
import { codesText, filterText, locationOf, partText, versionStep } from './steps.js'

/** An include or exclude with its codes. */
interface ListedPart {
  readonly scope: TerminologyScope
  readonly part: PartPlan
  readonly segments: readonly Segment[]
}

/** Records the number of codes of an include or exclude, and of each of its filters. */
export function* explainListedPart(explain: Explain, { scope, part, segments }: ListedPart): Work<void> {
  const { kind } = part
  if (part.family !== undefined) {
    const choice = chooseVersion(part.family, { include: part.definition.version, rules: scope.rules })
    explain.step(versionStep(choice, 'include'))
    if (choice.provider !== undefined) yield* explainSelection(explain, part, choice.provider)
  }
  const count = sizeOf(segments)
  explain.step({
    kind,
    outcome: count > 0 ? 'holds' : 'fails',
    ...locationOf(part),
    count,
    text: `${kind === 'include' ? 'Includes' : 'Excludes'} ${partText(part)}: ${codesText(count)}.`,
  })
}

/** Records the total number of codes of a value set. */
export function explainListing(explain: Explain, { valueSet }: ValueSetPlan, segments: readonly Segment[]): void {
  const count = sizeOf(segments)
  const name = valueSet.canonical === undefined ? 'The value set' : quoted(valueSet.canonical)
  explain.step({
    kind: 'value-set',
    outcome: count > 0 ? 'holds' : 'fails',
    ...(valueSet.canonical !== undefined && { definition: valueSet.canonical }),
    count,
    text: `${name} has ${codesText(count)}${valueSet.activeOnly ? '; it excludes inactive codes' : ''}.`,
  })
}

const MOST_MISSING = 5

function* explainSelection(explain: Explain, part: PartPlan, provider: CodeSystemProvider): Work<void> {
  const location = locationOf(part)
  const missing = (part.definition.concepts ?? []).filter(({ code }) => provider.find(code) === undefined)
  for (const { code } of missing.slice(0, MOST_MISSING)) {
    const text = `${quoted(code)} is listed and is not a code of ${quoted(provider.header.url)}; it is omitted.`
    explain.step({
      kind: 'concept',
      outcome: 'fails',
      reason: 'unknown-code',
      ...location,
      path: `${location.path}.concept`,
      coding: { system: provider.header.url, code },
      text,
    })
  }
  for (const [i, filter] of part.filters.entries()) {
    const set = yield* conceptsFor(provider, filter, nameOf(part.valueSet))
    const count = (yield* set.all()).count()
    const text = `${filterText(filter)} holds for ${codesText(count)}.`
    explain.step({
      kind: 'filter',
      outcome: count > 0 ? 'holds' : 'fails',
      ...location,
      path: `${location.path}.filter[${i}]`,
      count,
      text,
    })
  }
}

function sizeOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { codes }) => sum + codes.count(), 0)
}
