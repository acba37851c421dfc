import { quoted } from '../../errors/index.js'
import type { Explain, ExplanationReason, ExplanationStep } from '../../explain/index.js'
import { chooseVersion } from '../code-system/system-family.js'
import type { CodeSystemProvider } from '../../code-system/index.js'
import { conceptsFor } from '../filter/operators.js'
import type { TerminologyScope } from '../scope.js'
import type { PartPlan, ValueSetPlan, CodeInQuestion, Membership } from '../value-set/plan.js'
import type { Segment } from '../value-set/segment.js'
import { nameOf } from '../value-set/value-set.js'
import type { Work } from '../../work/index.js'
import { codesText, filterText, locationOf, partText, versionStep } from './steps.js'
import { listedConcept, meetsFilters, type FilterTest } from '../value-set/filter-tests.js'

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

/** An include or exclude with its answer for a code. */
interface AskedPart {
  readonly scope: TerminologyScope
  readonly part: PartPlan
  readonly code: CodeInQuestion
  readonly answer: Membership
  readonly holds: FilterTest
}

/** Records the answer of an include or exclude for a code, and the conditions that decided it. */
export function explainPart(explain: Explain, asked: AskedPart): void {
  const { part, code, answer } = asked
  const provider = explainVersion(explain, asked)
  const concept = provider?.find(code.code)
  if (provider !== undefined && concept !== undefined) explainConditions(explain, asked, { provider, concept })
  const reason = reasonOf(asked, provider)
  explain.step({
    kind: part.kind,
    outcome: outcomeOf(answer),
    ...(reason !== undefined && { reason }),
    ...locationOf(part),
    coding: { system: code.system, code: code.code },
    text: `${part.kind === 'include' ? 'Includes' : 'Excludes'} ${partText(part)}: ${quoted(code.code)} ${saying(answer, reason)}.`,
  })
}

/** Records which includes are skipped, because the code belongs to another version of their system. */
export function explainPassedOver(explain: Explain, plan: ValueSetPlan, asked: readonly PartPlan[]): void {
  const kept = new Set(asked)
  for (const part of plan.includes.filter((one) => !kept.has(one))) {
    const text = `Includes ${partText(part)}: the code is looked for in another version.`
    explain.step({ kind: 'include', outcome: 'fails', reason: 'other-version', ...locationOf(part), text })
  }
}

/** The answer of a value set for a code. */
interface AskedSet {
  readonly code: CodeInQuestion
  readonly answer: Membership
  /** True if its includes contain the code. */
  readonly included: boolean
}

/** Records the overall answer of a value set for a code. */
export function explainMember(explain: Explain, { valueSet }: ValueSetPlan, { code, answer, included }: AskedSet): void {
  const name = valueSet.canonical === undefined ? 'the value set' : quoted(valueSet.canonical)
  const says = { in: 'is in', out: 'is not in', unknown: 'may or may not be in' } as const
  explain.step({
    kind: 'value-set',
    outcome: outcomeOf(answer),
    ...(included && answer.state !== 'in' && { reason: 'excluded' }),
    ...(valueSet.canonical !== undefined && { definition: valueSet.canonical }),
    coding: { system: code.system, code: code.code },
    text: `${quoted(code.code)} of ${quoted(code.system)} ${says[answer.state]} ${name}.`,
  })
}

/** @returns The code system version that the part resolves to, if it is of the code's system. */
function explainVersion(explain: Explain, { scope, part, code }: AskedPart): CodeSystemProvider | undefined {
  if (part.family === undefined || part.family.url !== code.system) return undefined
  const choice = chooseVersion(part.family, { include: part.definition.version, value: code.version, rules: scope.rules })
  explain.step(versionStep(choice, 'include', code.version))
  return choice.provider
}

interface Found {
  readonly provider: CodeSystemProvider
  readonly concept: number
}

/** Records the results for the list of codes, each filter, and the status of the concept. */
function explainConditions(explain: Explain, { part, code, answer, holds: asked }: AskedPart, { provider, concept }: Found): void {
  const coding = { system: code.system, code: code.code }
  const location = locationOf(part)
  const test = (kind: ExplanationStep['kind'], path: string, { holds, text }: { readonly holds: boolean; readonly text: string }): void =>
    explain.step({ kind, outcome: holds ? 'holds' : 'fails', ...location, path: `${location.path}${path}`, coding, text })
  if (part.definition.concepts !== undefined) {
    const holds = listedConcept(provider, part, concept) !== undefined
    test('concept', '.concept', {
      holds,
      text: `${quoted(code.code)} is ${holds ? '' : 'not '}in the list of ${codesText(part.definition.concepts.length)}.`,
    })
  }
  for (const [i, filter] of part.filters.entries()) {
    const holds = asked(provider, filter, part, concept)
    test('filter', `.filter[${i}]`, { holds, text: `${filterText(filter)} ${holds ? 'holds' : 'does not hold'} for ${quoted(code.code)}.` })
  }
  if (answer.barred === undefined) return
  explain.step({
    kind: 'status',
    outcome: 'fails',
    reason: answer.barred,
    coding,
    text: `${quoted(code.code)} is ${answer.barred} and excluded by the request.`,
  })
}

const WHY: ReadonlyMap<ExplanationReason, string> = new Map<ExplanationReason, string>([
  ['abstract', 'is abstract'],
  ['filter', 'does not meet a filter'],
  ['import', 'is not in an imported value set'],
  ['inactive', 'is inactive'],
  ['not-listed', 'is not listed'],
  ['other-system', 'is of another code system'],
  ['unknown-code', 'does not exist'],
])

function saying({ state }: Membership, reason: ExplanationReason | undefined): string {
  if (state === 'in') return 'is among them'
  if (state === 'unknown') return 'may be among them: that cannot be decided'
  return WHY.get(reason ?? 'filter') ?? 'is not among them'
}

function reasonOf({ part, code, answer, holds }: AskedPart, provider: CodeSystemProvider | undefined): ExplanationReason | undefined {
  if (answer.state === 'in') return undefined
  if (part.missing.length > 0) return 'unknown-import'
  if (part.family === undefined) return 'import'
  if (part.family.url !== code.system) return 'other-system'
  if (provider === undefined) return 'unknown-system'
  return conditionOf({ part, code, answer, holds }, provider)
}

function conditionOf(
  { part, code, answer, holds }: Pick<AskedPart, 'part' | 'code' | 'answer' | 'holds'>,
  provider: CodeSystemProvider,
): ExplanationReason {
  const concept = provider.find(code.code)
  if (concept === undefined) return 'unknown-code'
  if (answer.barred !== undefined) return answer.barred
  if (part.definition.concepts !== undefined && listedConcept(provider, part, concept) === undefined) return 'not-listed'
  return meetsFilters(provider, part, { concept, holds }) ? 'import' : 'filter'
}

function outcomeOf({ state }: Membership): ExplanationStep['outcome'] {
  return ({ in: 'holds', out: 'fails', unknown: 'unknown' } as const)[state]
}
