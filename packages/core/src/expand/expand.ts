import { OperationError } from '../errors/index.js'
import { explained, type OperationContext } from '../context/index.js'
import { checkInput } from '../input/index.js'
import {
  activeCodes,
  filterWords,
  languagesFor,
  listable,
  nameOf,
  plannedValueSet,
  refusal,
  selectableCodes,
  standIns,
  type Members,
  type Segment,
  type TerminologyScope,
  type ValueSetPlan,
} from '../terminology/index.js'
import { mapped, paced, type Work } from '../work/index.js'
import { designationFilter, type EntryStyle } from './entry.js'
import { EXPAND_INPUT, type ExpandInput } from './expand-input.js'
import type { Expansion, ExpansionEntry } from './expansion.js'
import { explainSelection } from './explain-selection.js'
import { declaredProperties } from './expansion-properties.js'
import { nestable } from './nesting.js'
import { pageEntries, streamedEntries, wantedMatches } from './page.js'
import { reportedParameters } from './reported.js'
import { matching } from './text-filter.js'
import { nearlyMatching } from './typing-error.js'

/**
 * Lists the codes of a value set.
 *
 * @param ctx Where definitions come from, and the limits. Definitions that came with a request are added by `forRequest`.
 * @returns All codes, or the page that was asked for, in the order of the definition; nested where the value set is one branch of a code
 *   system, no page was asked for and `excludeNested` is not set. A text filter over other value sets orders by relevance.
 * @throws {OperationError} `not-found` for an unknown value set; `content-not-found` for an unknown code system, version, import or
 *   supplement; `unprocessable` for a circle of imports or a forbidden version; `definition-invalid` for a value set that cannot be
 *   used; `not-supported` for a filter that is not understood; `too-costly` for more codes than `maxExpansion` when no `count` was given, or
 *   an answer of more than `maxAnswerBytes`.
 * @see https://hl7.org/fhir/R4/valueset-operation-expand.html
 */
export function expand(ctx: OperationContext, input: ExpandInput): Promise<Expansion> {
  return explained(ctx, input, (own) => expanded(own, input))
}

async function expanded(ctx: OperationContext, input: ExpandInput): Promise<Expansion> {
  const selection = await selected(ctx, input)
  refuseTooMany(ctx, selection)
  const contains = await entries(selection)
  return { ...frameOf(selection, contains), contains }
}

/**
 * The codes of a value set one after the other, without the whole answer in memory and without a limit on their number. They come as from
 * `expand` with `excludeNested`: in the order of the definition, or, with a text filter, the best first.
 *
 * @param input `offset` and `count` hold as for `expand`.
 * @yields each code once
 * @throws {OperationError} As `expand`, but never `too-costly` for the number of codes; `aborted` also between two codes. The time limit holds up
 *   to the first code: from then on the reader sets the pace.
 */
export async function* expandStream(ctx: OperationContext, input: ExpandInput): AsyncGenerator<ExpansionEntry, void, undefined> {
  yield* (await openExpansion(ctx, input)).entries
}

/** An expansion of which the codes come one after the other, never nested. */
export interface StreamedExpansion extends Omit<Expansion, 'contains' | 'explanation'> {
  /** Each code once; to be gone through once. */
  readonly entries: AsyncIterable<ExpansionEntry>
}

/** The same as `expandStream`, with what is known about the whole before its first code. @throws {OperationError} As `expandStream`. */
export async function openExpansion(ctx: OperationContext, input: ExpandInput): Promise<StreamedExpansion> {
  const selection = await selected(ctx, input)
  const { scope, segments, style, filtered } = selection
  const matches = await wantedMatches(scope, segments, { input, style, filtered })
  return { ...frameOf(selection, []), entries: streamedEntries(ctx, matches, { input, style }) }
}

/** Everything but the codes. */
function frameOf(
  { input, plan, members, segments, total, style }: Selection,
  contains: readonly ExpansionEntry[],
): Omit<Expansion, 'contains'> {
  return {
    valueSet: plan.valueSet,
    ...(standIns(segments).length === 0 && { total }),
    offset: input.offset ?? 0,
    parameters: reportedParameters({ input, plan, members, displayLanguage: style.languages?.text }),
    unclosed: unclosedReasons(members, input),
    properties: declaredProperties(contains, { asked: style.properties, members }),
  }
}

interface Selection {
  readonly scope: TerminologyScope
  readonly input: ExpandInput
  readonly plan: ValueSetPlan
  readonly members: Members
  /** What is left of the members with filters. */
  readonly segments: readonly Segment[]
  readonly total: number
  readonly style: EntryStyle
  readonly filtered: boolean
}

async function selected(ctx: OperationContext, input: ExpandInput): Promise<Selection> {
  checkInput(ctx, input, EXPAND_INPUT)
  refuseLongFilter(ctx, input)
  const planned = await plannedValueSet(ctx, input)
  const { scope, plan } = planned
  const members = await planned.members()
  const languages = languagesFor(input, plan.valueSet.resource)
  const filtered = filterWords(input.filter ?? '').length > 0
  const wanted = await paced(wantedSegments(members, input), scope.pace)
  const segments = filtered ? await matchingSegments(scope, wanted, input) : wanted
  const total = segments.reduce((sum, segment) => sum + segment.codes.count(), 0)
  const style = entryStyle(input, plan, languages)
  if (ctx.explain !== undefined) explainSelection(ctx.explain, { input, languages, segments, total })
  return { scope, input, plan, members, segments, total, style, filtered }
}

function* wantedSegments({ segments }: Members, { activeOnly, excludeNotForUI }: ExpandInput): Work<readonly Segment[]> {
  const active = activeOnly === true ? yield* mapped(segments, activeCodes) : segments
  return excludeNotForUI === true ? yield* mapped(active, selectableCodes) : active
}

async function matchingSegments(
  { pace }: TerminologyScope,
  segments: readonly Segment[],
  { filter = '', tolerateTypo }: ExpandInput,
): Promise<readonly Segment[]> {
  for (const { provider } of segments) await paced(listable(provider).buildTexts(), pace)
  const found = segments.map((segment) => matching(segment, filter))
  if (tolerateTypo !== true || found.some(({ codes }) => codes.count() > 0)) return found
  return paced(nearlyMatching(segments, filter), pace)
}

function refuseLongFilter({ limits }: OperationContext, { filter }: ExpandInput): void {
  if (filter === undefined || filter.length <= limits.maxFilterLength) return
  throw new OperationError('parameter-too-long', `The filter must have at most ${limits.maxFilterLength} characters.`, {
    expression: ['filter'],
  })
}

function refuseTooMany({ limits }: OperationContext, { input, total, plan }: Selection): void {
  if (input.count !== undefined || total - (input.offset ?? 0) <= limits.maxExpansion) return
  // A value set that came with the request is the only one of its url, so its version says nothing.
  const name = input.valueSet === undefined ? undefined : plan.valueSet.url
  const values = { valueSet: name ?? nameOf(plan.valueSet), limit: String(limits.maxExpansion) }
  throw refusal('VALUESET_TOO_COSTLY', values, { diagnostics: 'Ask for it in pages with count and offset.' })
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

/** Code systems of which the value set names more than one version; an include without version counts as one. */
function versionedSystems({ systems }: ValueSetPlan): ReadonlySet<string> {
  return new Set(Array.from(systems).flatMap(([url, { versions }]) => (versions.size > 1 ? [url] : [])))
}

function entries({ scope, segments, input, plan, style, filtered }: Selection): Promise<readonly ExpansionEntry[]> {
  const paged = input.count !== undefined || input.offset !== undefined
  const nested = paged || input.excludeNested === true ? undefined : nestable({ plan, segments, filtered })
  return pageEntries(scope, segments, { input, style, nested, filtered })
}

function unclosedReasons(members: Members, { excludePostCoordinated }: ExpandInput): readonly (string | undefined)[] {
  const fragments = members.systems.flatMap(({ provider }) =>
    provider === undefined || provider.header.complete ? [] : [provider.header.url],
  )
  const reasons = Array.from(new Set(fragments), (url) => `This extension is based on a fragment of the code system ${url}`)
  const open = members.segments.filter(({ provider }) => excludePostCoordinated !== true || provider.grammar?.mayExtend === undefined)
  return [...reasons, ...new Set(open.flatMap(madeReason))]
}

function madeReason({ provider, made, extensible }: Segment): readonly (string | undefined)[] {
  if (made === undefined) return extensible === true ? [undefined] : []
  const standIn = provider.grammar?.common?.url
  if (made === 'some' && standIn === undefined) return [undefined]
  const reason = `The code System '${provider.header.url}' has a grammar and so has infinite members`
  return [standIn === undefined ? reason : `${reason}. This extension is based on ${standIn}`]
}
