import { canonicalOf } from '../../content/index.js'
import type { Pace } from '../../context/index.js'
import { and, andNot, bitmapFrom } from '../bitmap.js'
import { CONCEPT_PROPERTIES } from '../code-system/concept-status.js'
import type { CodeSystemProvider } from '../code-system/provider.js'
import { chooseVersion, type SystemChoice } from '../code-system/system-family.js'
import { explainListedPart, explainListing } from '../explain/expansion-steps.js'
import { listable, type ConceptSet } from '../filter/concept-set.js'
import { conceptsFor } from '../filter/concepts-for.js'
import { refusal } from '../refusal.js'
import { unknownSystemValues } from '../unknown-system.js'
import type { TerminologyScope } from '../scope.js'
import type { ConceptSetPlan, ValueSetPlan } from './plan.js'
import { keepsVersions } from './selection.js'
import { cover, sameSystem, within, without, type Segment } from './segment.js'
import type { ListedCode } from './value-set.js'

/** All codes of a value set, without any object for a code. */
export interface Members {
  readonly segments: readonly Segment[]
  /** The versions of code systems that were used, each once, in the order of their use. */
  readonly systems: readonly SystemChoice[]
  /** True when equal codes of different versions were taken for one. */
  readonly merged: boolean
}

/**
 * Works out the codes of a value set.
 *
 * @throws {OperationError} `content-not-found` for an unknown import, code system or version; `unprocessable` for a version that a check forbids;
 *   `not-supported` for a filter that is not understood or a code system whose codes cannot be listed.
 */
export function membersOf(scope: TerminologyScope, plan: ValueSetPlan): Members {
  const systems: SystemChoice[] = []
  const done = new Map<ValueSetPlan, Outcome>()
  const outcome = evaluated({ scope, systems, done }, plan)
  return { ...outcome, systems: onceEach(systems) }
}

interface Evaluation {
  readonly scope: TerminologyScope
  readonly systems: SystemChoice[]
  readonly done: Map<ValueSetPlan, Outcome>
}

interface Outcome {
  readonly segments: readonly Segment[]
  readonly merged: boolean
}

function evaluated(evaluation: Evaluation, plan: ValueSetPlan): Outcome {
  const known = evaluation.done.get(plan)
  if (known !== undefined) return known
  const { scope } = evaluation
  const segmentsOf = (kind: 'include' | 'exclude', part: ConceptSetPlan): readonly Segment[] => {
    scope.pace.check()
    const segments = partSegments(evaluation, part)
    if (scope.ctx.explain !== undefined) explainListedPart(scope.ctx.explain, { kind, scope, plan, part, segments })
    return segments
  }
  const included = union(
    scope.pace,
    plan.includes.map((part) => segmentsOf('include', part)),
    plan.versionsMatch === true,
  )
  const rest = plan.excludes.reduce((left, part) => excluded(left, segmentsOf('exclude', part), keepsVersions(plan, part)), included)
  const outcome = plan.valueSet.activeOnly ? { ...rest, segments: rest.segments.map(activeCodes) } : rest
  if (scope.ctx.explain !== undefined) explainListing(scope.ctx.explain, plan, outcome.segments)
  evaluation.done.set(plan, outcome)
  return outcome
}

/** The segment without inactive codes. */
export function activeCodes(segment: Segment): Segment {
  return { ...segment, codes: andNot(segment.codes, listable(segment.provider).inactive()) }
}

/** The segment without abstract codes. */
export function selectableCodes(segment: Segment): Segment {
  const { header } = segment.provider
  const index = listable(segment.provider)
  const names = [...header.properties].flatMap(([code, uri]) => (uri === NOT_SELECTABLE ? [code] : []))
  const abstract = [...new Set([...names, 'notSelectable'])].flatMap((name) => index.values(name).get('true') ?? [])
  return { ...segment, codes: abstract.reduce(andNot, segment.codes) }
}

const NOT_SELECTABLE = `${CONCEPT_PROPERTIES}#notSelectable`

function union(pace: Pace, parts: readonly (readonly Segment[])[], anyVersion: boolean): Outcome {
  const all: Segment[] = []
  // One segment for each version of a system, however many parts there are.
  const covered: Segment[] = []
  let merged = false
  for (const segment of parts.flat()) {
    pace.check()
    const [exact] = without([segment], covered, false)
    const [rest] = anyVersion ? without([segment], covered, true) : [exact]
    if (rest === undefined || exact === undefined) continue
    merged ||= rest.codes.count() < exact.codes.count()
    if (!adds(rest, all)) continue
    all.push(rest)
    cover(covered, rest)
  }
  return { segments: all, merged }
}

/** False for a segment that has nothing beside the others. Kept, such segments would double at every level of imports. */
function adds({ codes, made, provider }: Segment, others: readonly Segment[]): boolean {
  if (codes.count() > 0) return true
  return (
    made !== undefined && !others.some((other) => sameSystem(other.provider, provider) && (other.made === made || other.made === 'all'))
  )
}

function excluded(left: Outcome, part: readonly Segment[], sameVersionOnly: boolean): Outcome {
  const exact = without(left.segments, part, false)
  if (sameVersionOnly) return { ...left, segments: exact }
  const rest = without(left.segments, part, true)
  return { segments: rest, merged: left.merged || sizeOf(rest) < sizeOf(exact) }
}

function partSegments(evaluation: Evaluation, part: ConceptSetPlan): readonly Segment[] {
  refuseMissing(part)
  const imported = part.imports.map((value) => evaluated(evaluation, value).segments)
  if (part.family === undefined) {
    const [first = [], ...others] = imported
    return others.reduce(within, first)
  }
  const choice = chooseVersion(part.family, { include: part.definition.version, rules: evaluation.scope.rules })
  const provider = usableProvider(choice)
  evaluation.systems.push(choice)
  return imported.reduce(within, [systemSegment(provider, part)])
}

function refuseMissing({ missing: [first] }: ConceptSetPlan): void {
  if (first === undefined) return
  const { url, version } = canonicalOf(first)
  if (version === undefined) throw refusal('VS_EXP_IMPORT_UNK', { valueSet: first })
  throw refusal('VS_EXP_IMPORT_UNK_PINNED', { valueSet: url, version })
}

function usableProvider(choice: SystemChoice): CodeSystemProvider {
  const { provider, violates, family, wished } = choice
  if (provider === undefined) {
    const [id, values] = unknownSystemValues(family, wished, 'expanded')
    throw refusal(id, values)
  }
  if (violates === undefined) return provider
  throw refusal('VALUESET_VERSION_CHECK', { system: family.url, version: provider.header.version ?? '', required: violates })
}

function systemSegment(provider: CodeSystemProvider, part: ConceptSetPlan): Segment {
  const sets = part.filters.map((filter) => conceptsFor(provider, filter, part.owner))
  const { concepts } = part.definition
  if (concepts === undefined) return { provider, codes: allOf(provider, sets), ...madeCodes(provider, part) }
  const listed = new Map(concepts.flatMap((entry) => placed(provider, entry)))
  const { size } = listable(provider)
  const codes = sets.reduce((rest, set) => and(rest, set.all()), bitmapFrom(listed.keys(), size))
  return { provider, codes, order: [...listed.keys()], listed }
}

function madeCodes({ grammar }: CodeSystemProvider, { filters }: ConceptSetPlan): Pick<Segment, 'made'> {
  if (grammar?.admits(filters) !== true) return {}
  return { made: filters.length === 0 ? 'all' : 'some' }
}

function allOf(provider: CodeSystemProvider, sets: readonly ConceptSet[]): Segment['codes'] {
  const [first, ...others] = sets
  // A filter is tried on every concept that was met, and those that a grammar made are not listed.
  if (provider.grammar !== undefined || first === undefined)
    return sets.reduce((rest, set) => and(rest, set.all()), listable(provider).all())
  return others.reduce((rest, set) => and(rest, set.all()), first.all())
}

function placed(provider: CodeSystemProvider, entry: ListedCode): readonly [number, ListedCode][] {
  const concept = provider.find(entry.code)
  return concept === undefined ? [] : [[concept, entry]]
}

function sizeOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.codes.count(), 0)
}

function onceEach(systems: readonly SystemChoice[]): readonly SystemChoice[] {
  return systems.filter((choice, i) => systems.findIndex((other) => isSame(other, choice)) === i)
}

function isSame(a: SystemChoice, b: SystemChoice): boolean {
  return a.provider !== undefined && b.provider !== undefined && a.origin === b.origin && sameSystem(a.provider, b.provider)
}
