import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { Explain } from '../explain/index.js'
import { checkInput } from '../input/index.js'
import {
  activeCodes,
  codesText,
  conceptsOf,
  filterWords,
  languagesFor,
  languageStep,
  listable,
  membersOf,
  plannedValueSet,
  selectableCodes,
  type LanguageList,
  type Members,
  type Segment,
  type TerminologyScope,
  type UsedDefinitions,
  type ValueSetPlan,
} from '../terminology/index.js'
import { designationFilter, type EntryStyle } from './entry.js'
import { EXPAND_INPUT, type ExpandInput } from './input.js'
import { firstMatches, matching, nearlyMatching, type Match } from './text-filter.js'

/** The codes that a request selects from a value set. */
export interface Selection {
  readonly scope: TerminologyScope
  readonly input: ExpandInput
  readonly plan: ValueSetPlan
  readonly members: Members
  /** The definitions that the codes come from. */
  readonly used: UsedDefinitions
  /** The members of the value set that pass the request's filters. */
  readonly segments: readonly Segment[]
  /** Number of codes in `segments`. */
  readonly total: number
  readonly style: EntryStyle
  /** True when a text filter chose the codes. */
  readonly filtered: boolean
}

/** Selects the codes that a request asks for, on all pages. @throws {OperationError} as `expand`. */
export async function selectedCodes(ctx: OperationContext, input: ExpandInput): Promise<Selection> {
  checkInput(ctx, input, EXPAND_INPUT)
  refuseLongFilter(ctx, input)
  const planned = await plannedValueSet(ctx, input)
  const { scope, plan } = planned
  const members = await planned.members(membersOf)
  const languages = languagesFor(input, plan.valueSet.resource)
  const filtered = filterWords(input.filter ?? '').length > 0
  const wanted = await wantedSegments(scope, members, input)
  const segments = filtered ? await matchingSegments(scope, wanted, input) : wanted
  const total = segments.reduce((sum, segment) => sum + segment.codes.count(), 0)
  const style = entryStyle(input, plan, languages)
  if (ctx.explain !== undefined) explainSelection(ctx.explain, { input, languages, segments, total })
  return { scope, input, plan, members, used: planned.used(members), segments, total, style, filtered }
}

async function wantedSegments(
  { pace }: TerminologyScope,
  { segments }: Members,
  { activeOnly, excludeNotForUI }: ExpandInput,
): Promise<readonly Segment[]> {
  if (activeOnly !== true && excludeNotForUI !== true) return segments
  const wanted: Segment[] = []
  for (const segment of segments) {
    await pace.step()
    const active = activeOnly === true ? await pace.run(activeCodes(segment)) : segment
    wanted.push(excludeNotForUI === true ? await selectableCodes(pace, active) : active)
  }
  return wanted
}

async function matchingSegments(
  { pace }: TerminologyScope,
  segments: readonly Segment[],
  { filter = '', tolerateTypo }: ExpandInput,
): Promise<readonly Segment[]> {
  const found: Segment[] = []
  for (const segment of segments) {
    const build = listable(segment.provider).buildTexts?.()
    if (build !== undefined) await pace.run(build)
    found.push(await matching(pace, segment, filter))
  }
  if (tolerateTypo !== true || found.some(({ codes }) => codes.count() > 0)) return found
  return nearlyMatching(pace, segments, filter)
}

function refuseLongFilter({ limits }: OperationContext, { filter }: ExpandInput): void {
  if (filter === undefined || filter.length <= limits.maxFilterLength) return
  throw new OperationError('parameter-too-long', `The filter must have at most ${limits.maxFilterLength} characters.`, {
    expression: ['filter'],
  })
}

function entryStyle(input: ExpandInput, plan: ValueSetPlan, languages: EntryStyle['languages']): EntryStyle {
  const named = input.designations ?? []
  const wanted = input.includeDesignations === true || (named.length > 0 && input.includeDesignations !== false)
  return {
    languages,
    designations: wanted ? designationFilter(named) : undefined,
    properties: [...new Set(input.properties)],
    versioned: versionedSystems(plan),
  }
}

/** Returns the code systems of which the value set names more than one version; an include without version counts as one. */
function versionedSystems({ systems }: ValueSetPlan): ReadonlySet<string> {
  return new Set(Array.from(systems).flatMap(([url, { versions }]) => (versions.size > 1 ? [url] : [])))
}

/** Returns the maximum number of codes to return. */
export function mostOf({ count }: ExpandInput): number {
  return count ?? Number.POSITIVE_INFINITY
}

/** Returns the matches from `offset` on. They can be iterated several times. */
export async function wantedMatches({ scope, segments, input, style, filtered }: Selection): Promise<Iterable<Match>> {
  const skip = input.offset ?? 0
  if (!filtered) return { [Symbol.iterator]: () => matchesOf(segments, skip) }
  return firstMatches(scope, segments, { languages: style.languages, skip, end: skip + mostOf(input) })
}

function* matchesOf(segments: readonly Segment[], skip: number): Generator<Match> {
  let left = skip
  for (const segment of segments) {
    const count = segment.codes.count()
    if (left >= count) {
      left -= count
      continue
    }
    for (const concept of conceptsOf(segment, left)) yield { segment, concept }
    left = 0
  }
}

/** How the request selected codes of the value set, for the explanation. */
interface SelectionMade {
  readonly input: ExpandInput
  readonly languages: LanguageList | undefined
  /** The selected codes, each segment with the text filter that found them. */
  readonly segments: readonly Segment[]
  readonly total: number
}

const MOST_CORRECTED = 5

function explainSelection(explain: Explain, { input, languages, segments, total }: SelectionMade): void {
  if (languages !== undefined) explain.step(languageStep(languages, input))
  if (input.activeOnly === true) {
    explain.step({ kind: 'status', outcome: 'chosen', reason: 'inactive', text: 'Inactive codes are excluded by activeOnly.' })
  }
  if (input.excludeNotForUI === true) {
    explain.step({ kind: 'status', outcome: 'chosen', reason: 'abstract', text: 'Abstract codes are excluded by excludeNotForUI.' })
  }
  if (input.filter === undefined || input.filter.trim() === '') return
  const corrected = new Set(segments.flatMap(({ filter }) => (filter === undefined || filter === input.filter ? [] : [quoted(filter)])))
  const taken = corrected.size === 0 ? '' : `, read as ${[...corrected].slice(0, MOST_CORRECTED).join(' or ')}`
  const text = `${codesText(total)} with words that begin like those of ${quoted(input.filter)}${taken}.`
  explain.step({ kind: 'text-filter', outcome: total > 0 ? 'holds' : 'fails', count: total, text })
}
