import { canonicalOf, formatCanonical } from '../../content/index.js'
import { and, andNot, bitmapFrom, compacted, gatheredBitmap, members, type Bitmap } from '../../bits/index.js'
import { CONCEPT_PROPERTIES } from '../code-system/concept-index.js'
import type { CodeSystemProvider, ConceptSet } from '../../code-system/index.js'
import { chooseVersion, type SystemChoice } from '../code-system/system-family.js'
import { explainListedPart, explainListing } from '../explain/value-set-steps.js'
import { listable } from '../filter/concept-set.js'
import { conceptsByValue, inactiveConcepts } from '../filter/filter-property.js'
import { conceptsFor } from '../filter/operators.js'
import type { Pace } from '../../context/index.js'
import { refusal } from '../messages.js'
import { NOT_EXPANDED, refuseForbidden, unknownReason, unknownSystemValues } from '../needed-system.js'
import type { TerminologyScope } from '../scope.js'
import { mapped, type Work } from '../../work/index.js'
import { coverageOf, createCoverage, joined, sameSystem, withCodes, type Segment } from './segment.js'
import { keepsVersions, namesCodesOfAnyVersion, type PartPlan, type ValueSetPlan } from './plan.js'
import { nameOf } from './value-set.js'

/** All codes of a value set, without an object per code. */
export interface Members {
  readonly segments: readonly Segment[]
  /** The code system versions that were used, each once, in the order of their use. */
  readonly systems: readonly SystemChoice[]
  /** True if equal codes of different versions were merged. */
  readonly merged: boolean
}

/**
 * Computes the codes of a value set.
 *
 * @throws {OperationError} `content-not-found` for an unknown import, code system or version; `unprocessable` for a version that a check forbids;
 *   `not-supported` for an unknown filter or a code system whose codes cannot be listed.
 */
export function* membersOf(scope: TerminologyScope, plan: ValueSetPlan): Work<Members> {
  const systems = new Map<string, SystemChoice>()
  const outcome = yield* evaluated({ scope, systems, done: new Map() }, plan)
  return { ...outcome, systems: [...systems.values()] }
}

interface Evaluation {
  readonly scope: TerminologyScope
  /** Choices by origin and canonical, in the order of their use. */
  readonly systems: Map<string, SystemChoice>
  readonly done: Map<ValueSetPlan, Outcome>
}

interface Outcome {
  readonly segments: readonly Segment[]
  readonly merged: boolean
}

function* evaluated(evaluation: Evaluation, plan: ValueSetPlan): Work<Outcome> {
  const known = evaluation.done.get(plan)
  if (known !== undefined) return known
  const included = yield* union(evaluation, plan)
  const { segments, merged } = plan.excludes.length === 0 ? included : yield* excluded(evaluation, plan, included)
  const wanted = plan.valueSet.activeOnly ? yield* mapped(segments, activeCodes) : segments
  const outcome = { segments: yield* joined(wanted), merged }
  if (evaluation.scope.ctx.explain !== undefined) explainListing(evaluation.scope.ctx.explain, plan, outcome.segments)
  evaluation.done.set(plan, outcome)
  return outcome
}

/** Removes inactive codes from a segment. */
export function* activeCodes(segment: Segment): Work<Segment> {
  return withCodes(segment, andNot(segment.codes, yield* inactiveConcepts(listable(segment.provider))))
}

/** Removes abstract codes from a segment. The status of a concept is what the code system states, not a supplement, whatever the index finds. */
export async function selectableCodes(pace: Pace, segment: Segment): Promise<Segment> {
  const { header } = segment.provider
  const index = listable(segment.provider)
  const names = [...header.properties].flatMap(([code, uri]) => (uri === NOT_SELECTABLE ? [code] : []))
  let { codes } = segment
  for (const name of new Set([...names, 'notSelectable'])) {
    const stated = (await pace.run(conceptsByValue(index, name))).get('true')
    if (stated !== undefined) codes = andNot(codes, await abstractCodes(pace, segment.provider, and(codes, stated)))
  }
  return withCodes(segment, codes)
}

async function abstractCodes(pace: Pace, provider: CodeSystemProvider, codes: Bitmap): Promise<Bitmap> {
  const found: number[] = []
  for (const concept of members(codes)) {
    const turn = pace.step()
    if (turn !== undefined) await turn
    if (provider.status(concept).abstract) found.push(concept)
  }
  return bitmapFrom(found, codes.limit)
}

const NOT_SELECTABLE = `${CONCEPT_PROPERTIES}#notSelectable`

/** Returns the codes of all includes, each once. */
function* union(evaluation: Evaluation, plan: ValueSetPlan): Work<Outcome> {
  const all: Segment[] = []
  const covered = createCoverage()
  let merged = false
  for (const part of plan.includes) {
    for (const segment of yield* segmentsOf(evaluation, part)) {
      yield
      const exact = covered.rest(segment)
      const rest = plan.versionsMatch === true ? yield* covered.restOfAnyVersion(segment) : exact
      merged ||= rest.codes.count() < exact.codes.count()
      if (!adds(rest, all)) continue
      all.push(withCodes(rest, compacted(rest.codes)))
      yield* covered.add(rest)
    }
  }
  return { segments: all, merged }
}

/** False for a segment that adds nothing to the others. Otherwise the number of such segments would double at every level of imports. */
function adds({ codes, formed, provider }: Segment, others: readonly Segment[]): boolean {
  if (codes.count() > 0) return true
  return (
    formed !== undefined &&
    !others.some((other) => sameSystem(other.provider, provider) && (other.formed === formed || other.formed === 'all'))
  )
}

/** Removes the codes of the excludes from the included codes. */
function* excluded(evaluation: Evaluation, plan: ValueSetPlan, included: Outcome): Work<Outcome> {
  const covered = { same: createCoverage(), any: createCoverage() }
  for (const part of plan.excludes) {
    yield
    const versions = keepsVersions(plan, part) ? 'same' : 'any'
    const others = namesCodesOfAnyVersion(plan, part) ? new Set(included.segments.map(({ provider }) => provider)) : []
    for (const segment of yield* segmentsOf(evaluation, part, others)) yield* covered[versions].add(segment)
  }
  const left: Segment[] = []
  let { merged } = included
  for (const segment of included.segments) {
    yield
    const exact = covered.any.rest(covered.same.rest(segment))
    const rest = yield* covered.any.restOfAnyVersion(exact)
    merged ||= rest.codes.count() < exact.codes.count()
    left.push(rest)
  }
  return { segments: left, merged }
}

/** Returns the codes of an include or exclude. @param others Other versions of the code system to which it also applies. */
function* segmentsOf(evaluation: Evaluation, part: PartPlan, others: Iterable<CodeSystemProvider> = []): Work<readonly Segment[]> {
  const { scope } = evaluation
  const segments = yield* partSegments(evaluation, part, others)
  if (scope.ctx.explain !== undefined) yield* explainListedPart(scope.ctx.explain, { scope, part, segments })
  return segments
}

function* partSegments(evaluation: Evaluation, part: PartPlan, others: Iterable<CodeSystemProvider>): Work<readonly Segment[]> {
  refuseMissing(part)
  const imported: (readonly Segment[])[] = []
  for (const value of part.imports) imported.push((yield* evaluated(evaluation, value)).segments)
  if (part.family === undefined) {
    const [first = [], ...rest] = imported
    return yield* inEach(first, rest)
  }
  const choice = chooseVersion(part.family, { include: part.definition.version, rules: evaluation.scope.rules })
  const provider = usableProvider(choice)
  noteUse(evaluation, choice, provider)
  const { url } = part.family
  const versions = [...others].filter((other) => other.header.url === url && !sameSystem(other, provider))
  return yield* inEach(yield* mapped([provider, ...versions], (version) => systemSegment(version, part)), imported)
}

function noteUse({ systems }: Evaluation, choice: SystemChoice, { header }: CodeSystemProvider): void {
  const name = `${choice.origin} ${formatCanonical(header.url, header.version)}`
  if (!systems.has(name)) systems.set(name, choice)
}

/** Returns the codes of segments that are also in each of the others. */
function* inEach(segments: readonly Segment[], others: readonly (readonly Segment[])[]): Work<readonly Segment[]> {
  let left = segments
  for (const other of others) {
    const covered = yield* coverageOf(other)
    const shared: Segment[] = []
    for (const segment of left) {
      const common = yield* covered.common(segment)
      if (common !== undefined) shared.push(common)
    }
    left = shared
  }
  return left
}

function refuseMissing({ missing: [first] }: PartPlan): void {
  if (first === undefined) return
  const { url, version, fragment } = canonicalOf(first)
  const missing = { kind: 'ValueSet', name: first }
  if (version === undefined || fragment !== undefined) throw refusal('VS_EXP_IMPORT_UNK', { valueSet: first }, { missing })
  throw refusal('VS_EXP_IMPORT_UNK_PINNED', { valueSet: url, version }, { missing })
}

function usableProvider(choice: SystemChoice): CodeSystemProvider {
  const { provider, family, wished } = choice
  refuseForbidden(choice)
  if (provider !== undefined) return provider
  const [id, values] = unknownSystemValues(family, wished, NOT_EXPANDED + unknownReason(family))
  throw refusal(id, values, { missing: { kind: 'CodeSystem', name: formatCanonical(family.url, wished) } })
}

function* systemSegment(provider: CodeSystemProvider, part: PartPlan): Work<Segment> {
  const sets = yield* mapped(part.filters, (filter) => conceptsFor(provider, filter, nameOf(part.valueSet)))
  if (part.definition.concepts === undefined) return { provider, codes: yield* inAll(provider, sets), ...formedCodes(provider, part) }
  const listed = part.definition.listedIn(provider)
  const { size } = listable(provider)
  const codes = gatheredBitmap(
    Uint32Array.from(listed.keys()).filter((concept) => concept < size),
    size,
  )
  return { provider, codes: yield* inAll(provider, sets, codes), order: [...listed.keys()], listed }
}

function formedCodes({ grammar }: CodeSystemProvider, { filters }: PartPlan): Pick<Segment, 'formed' | 'extensible'> {
  if (grammar?.admits(filters) !== true) return grammar?.mayExtend?.(filters) === true ? { extensible: true } : {}
  return { formed: filters.length === 0 ? 'all' : 'some' }
}

/** Returns the codes that are in all sets. @param among The codes of which to choose; all of the code system when absent. */
function* inAll(provider: CodeSystemProvider, sets: readonly ConceptSet[], among?: Segment['codes']): Work<Segment['codes']> {
  // A filter is tested on every concept found so far, including codes formed by a grammar, which must not be listed.
  let left = among ?? (provider.grammar === undefined ? undefined : listable(provider).all())
  for (const set of sets) {
    const codes = yield* set.all()
    left = left === undefined ? codes : and(left, codes)
  }
  return left ?? listable(provider).all()
}
