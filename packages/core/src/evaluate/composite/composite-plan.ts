import { canonicalOf, formatCanonical } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { measureByCanonical, type PinnedVersions } from '../find-measure.js'
import { componentsOfGroup, compositeScoringOf, groupIdOf, notationOf, scoringOf, weightOf } from '../measure-extensions.js'
import { MAX_POPULATIONS, planOf, type GroupPlan, type MeasurePlan, type Population } from '../measure-plan.js'
import { subjectTypeOf } from '../subject.js'

/** How a composite measure combines its components (code system `composite-measure-scoring`). */
export type CompositeMethod = 'opportunity' | 'all-or-nothing' | 'linear' | 'weighted'

/** The composites of a Measure: the Measure as a whole, or some of its groups. */
export interface Composition {
  readonly composites: readonly Composite[]
  /** The Measure's own groups that are neither composites nor components; they are counted separately. */
  readonly others: readonly GroupPlan[]
}

/** A combination of components. */
export interface Composite {
  readonly method: CompositeMethod
  /** The group without populations, whose id and code the report of the composite has; empty when there is none. */
  readonly head: Pick<GroupPlan, 'id' | 'code' | 'improvementNotation'>
  /** In the order of the composite. */
  readonly components: readonly Component[]
  /** FHIRPath of the element that states the method. */
  readonly path: string
}

/** One component: a group of a Measure. */
export interface Component {
  readonly measure: JsonObject
  readonly plan: MeasurePlan
  /** The group as its Measure defines it. */
  readonly source: GroupPlan
  /** The group that is counted, without stratifiers; methods that are based on individuals count its subjects. */
  readonly group: GroupPlan
  readonly weight: number
  /** Whether a lower score is better. */
  readonly isDecreasing: boolean
}

const METHODS: ReadonlyMap<string, CompositeMethod> = new Map(
  (['opportunity', 'all-or-nothing', 'linear', 'weighted'] as const).map((method) => [method, method]),
)
const MAX_COMPONENTS = 100

/** Whether a Measure is a composite one. */
function isComposite(measure: JsonObject): boolean {
  const scoring = scoringOf({}, measure)
  return scoring === 'composite' || (scoring === undefined && measure['compositeScoring'] !== undefined)
}

/**
 * Reads the composition of a Measure, and resolves its components: Measures, or groups of the composite itself. They are named by `relatedArtifact`
 * of type `composed-of`, and then the Measure is one composite, or by the extension `cqfm-component` of groups, each of which is a composite then.
 *
 * @param own The composite's own groups; those without populations are not components.
 * @param pinned Versions of components that the composite leaves open.
 * @returns `undefined` for any other Measure.
 * @throws {OperationError} `definition-required` without a method, or with fewer than two components of a Measure; `definition-not-found` naming every
 *   component of a composite that does not exist; `definition-invalid` for a component that is a composite itself (so there are no cycles), has several
 *   groups of which none is named, other subjects, or a bad weight, and for a composite group with populations of its own; `not-supported` for other
 *   methods and component scorings; `too-costly` for more than 100 components or 500 populations.
 * @see https://hl7.org/fhir/uv/cqm/composite-measures.html
 */
export async function compositionOf(
  ctx: OperationContext,
  measure: JsonObject,
  own: MeasurePlan,
  pinned?: PinnedVersions,
): Promise<Composition | undefined> {
  const composed = composedGroups(measure, own)
  if (composed.length === 0 && !isComposite(measure)) return undefined
  const heads = own.groups.filter(({ populations }) => populations.length === 0)
  const composites: Composite[] = []
  for (const { named, ...asked } of composed.length > 0 ? composed : [wholeComposite(measure, heads)]) {
    const found = await resolvedMeasures(ctx, named, { composite: measure, pinned })
    const composing = { method: asked.method, composite: measure, own }
    const components = named.map((one, index) => componentOf(one, { ...composing, found: found[index] }))
    if (asked.method === 'weighted') checkWeights(components)
    composites.push({ ...asked, components })
  }
  const components = composites.flatMap((composite) => composite.components)
  checkSize(components)
  checkStrata(heads)
  const sources = new Set(components.map(({ source }) => source))
  const others = own.groups.filter((group) => group.populations.length > 0 && !sources.has(group))
  checkSupplements(own, components, others)
  return { composites, others }
}

interface AskedComposite extends Omit<Composite, 'components'> {
  readonly named: readonly NamedComponent[]
}

function wholeComposite(measure: JsonObject, [head = {}]: readonly Composite['head'][]): AskedComposite {
  const path = 'Measure.compositeScoring'
  return { head, path, method: methodOf(compositeScoringOf(measure), path), named: componentsIn(measure) }
}

/** The groups that name components; each is a composite (extension `cqfm-component`). */
function composedGroups(measure: JsonObject, { groups }: MeasurePlan): readonly AskedComposite[] {
  return objectsAt(measure, 'group').flatMap((element, at): readonly AskedComposite[] => {
    const head = groups[at]
    const artifacts = componentsOfGroup(element)
    if (head === undefined || artifacts.length === 0) return []
    const { path, place, populations } = head
    if (populations.length > 0)
      throw new OperationError('definition-invalid', `${place} has components, and populations of its own.`, {
        expression: [`${path}.population`],
      })
    const named = artifacts.map((artifact) => namedComponent(artifact, `${path}.extension`))
    return [{ head, path, method: methodOf(compositeScoringOf(element) ?? compositeScoringOf(measure), path), named }]
  })
}

function checkSize(components: readonly Component[]): void {
  if (components.length > MAX_COMPONENTS)
    throw new OperationError('too-costly', `A composite measure may have at most ${MAX_COMPONENTS} components.`, {
      expression: ['Measure.relatedArtifact'],
    })
  const populations = components.reduce((sum, { group }) => sum + group.populations.length, 0)
  if (populations > MAX_POPULATIONS)
    throw new OperationError('too-costly', `The components of the Measure have more than ${MAX_POPULATIONS} populations.`)
}

function checkStrata(heads: readonly GroupPlan[]): void {
  const stratified = heads.find(({ stratifiers }) => stratifiers.length > 0)
  if (stratified === undefined) return
  throw new OperationError('not-supported', 'The stratification of a composite measure is not supported.', {
    expression: [`${stratified.path}.stratifier`],
  })
}

/** Supplemental data is about initial populations, so it needs groups of the same Measure. */
function checkSupplements(own: MeasurePlan, components: readonly Component[], others: readonly GroupPlan[]): void {
  if (own.supplements.length === 0 || others.length > 0 || components.some(({ plan }) => plan === own)) return
  throw new OperationError('not-supported', 'Supplemental data of a composite measure is not supported; that of its components is.', {
    expression: ['Measure.supplementalData'],
  })
}

function methodOf(code: string | undefined, path: string): CompositeMethod {
  const method = METHODS.get(code ?? '')
  if (method !== undefined) return method
  const expression = [path]
  if (code === undefined) throw new OperationError('definition-required', 'A composite measure needs a compositeScoring.', { expression })
  throw new OperationError('not-supported', `Composite scoring ${quoted(code)} is not supported.`, { expression })
}

/** The name of a component in the composite. */
interface NamedComponent {
  readonly canonical: string
  readonly artifact: JsonObject
  readonly path: string
  readonly place: string
}

function componentsIn(measure: JsonObject): readonly NamedComponent[] {
  const named = objectsAt(measure, 'relatedArtifact').flatMap((artifact, index) =>
    stringAt(artifact, 'type') === 'composed-of' ? [namedComponent(artifact, `Measure.relatedArtifact[${index}]`)] : [],
  )
  const expression = ['Measure.relatedArtifact']
  if (named.length < 2)
    throw new OperationError('definition-required', "A composite measure needs at least two components: 'composed-of' related artifacts.", {
      expression,
    })
  return named
}

function namedComponent(artifact: JsonObject, path: string): NamedComponent {
  const canonical = stringAt(artifact, 'resource')
  if (canonical !== undefined) return { canonical, artifact, path, place: `Component ${quoted(canonical)}` }
  throw new OperationError('definition-required', 'A component names no Measure.', { expression: [`${path}.resource`] })
}

async function resolvedMeasures(
  ctx: OperationContext,
  named: readonly NamedComponent[],
  { composite, pinned }: { readonly composite: JsonObject; readonly pinned: PinnedVersions | undefined },
): Promise<readonly (JsonObject | undefined)[]> {
  ctx.authorize?.('read', 'Measure')
  const known = new Map<string, JsonObject | undefined>()
  for (const { canonical } of named) {
    if (known.has(canonical)) continue
    known.set(canonical, names(canonical, composite) ? composite : await measureByCanonical(ctx, canonical, pinned))
  }
  const missing = named.filter(({ canonical }) => known.get(canonical) === undefined)
  if (missing.length === 0) return named.map(({ canonical }) => known.get(canonical))
  const all = [...new Set(missing.map(({ canonical }) => quoted(canonical)))].join(', ')
  throw new OperationError('definition-not-found', `These components of the composite measure do not exist: ${all}.`, {
    expression: missing.map(({ path }) => `${path}.resource`),
  })
}

function names(canonical: string, measure: JsonObject): boolean {
  const { url, version } = canonicalOf(canonical)
  return url === stringAt(measure, 'url') && (version === undefined || version === stringAt(measure, 'version'))
}

interface Composing {
  readonly method: CompositeMethod
  readonly composite: JsonObject
  readonly own: MeasurePlan
  readonly found: JsonObject | undefined
}

function componentOf(named: NamedComponent, { method, composite, own, found = {} }: Composing): Component {
  const plan = found === composite ? own : planOf(found)
  const groupId = groupIdOf(named.artifact)
  if (groupId === undefined && isComposite(found)) throw nested(named)
  const group = groupOf(named, plan, groupId)
  checkComponent(named, { method, group, sameSubjects: subjectTypeOf(found) === subjectTypeOf(composite) })
  const url = stringAt(found, 'url') ?? named.canonical
  const measure = formatCanonical(url, stringAt(found, 'version'))
  const notation = group.improvementNotation ?? notationOf(found)
  return {
    measure: found,
    plan,
    source: group,
    group: {
      ...group,
      component: { measure, ...(groupId !== undefined && { groupId }) },
      stratifiers: [],
      populations: method === 'weighted' ? group.populations : group.populations.flatMap(ofSubjects),
    },
    weight: weightIn(named),
    isDecreasing: objectsAt(notation, 'coding').some((coding) => stringAt(coding, 'code') === 'decrease'),
  }
}

function groupOf({ artifact, path, place }: NamedComponent, { groups }: MeasurePlan, groupId: string | undefined): GroupPlan {
  const [only, another] = groups
  const group = groupId === undefined ? only : groups.find(({ id }) => id === groupId)
  if (group !== undefined && (groupId !== undefined || another === undefined)) return group
  const fault =
    groupId !== undefined
      ? `has no group ${quoted(groupId)}`
      : only === undefined
        ? 'has no group'
        : 'has several groups, and the composite names none of them'
  const extension = objectsAt(artifact, 'extension').length > 0 ? '.extension' : ''
  throw new OperationError('definition-invalid', `${place} ${fault}.`, { expression: [`${path}${extension}`] })
}

type PlaceOf = Pick<NamedComponent, 'path' | 'place'>

/** Composites of composites are refused, so there are no cycles. */
function nested({ path, place }: PlaceOf): OperationError {
  const message = `${place} is a composite measure itself, which a component cannot be.`
  return new OperationError('definition-invalid', message, { expression: [`${path}.resource`] })
}

const INDIVIDUAL: ReadonlySet<string | undefined> = new Set(['proportion', 'ratio'])

function checkComponent(
  { path, place }: PlaceOf,
  { method, group, sameSubjects }: { readonly method: CompositeMethod; readonly group: GroupPlan; readonly sameSubjects: boolean },
): void {
  const expression = [`${path}.resource`]
  const { scoring } = group
  if (scoring === 'composite') throw nested({ path, place })
  if (!INDIVIDUAL.has(scoring) && !(method === 'weighted' && scoring === 'continuous-variable'))
    throw new OperationError(
      'not-supported',
      `${place} has ${scoring === undefined ? 'no scoring' : `scoring ${quoted(scoring)}`}, which composite scoring '${method}' cannot use.`,
      { expression },
    )
  if (!sameSubjects)
    throw new OperationError('definition-invalid', `${place} has subjects of another type than the composite measure.`, { expression })
}

/** Converts populations to those of subjects: a subject with any item that satisfies the criterion is in it. Observations are left out. */
function ofSubjects(population: Population): readonly Population[] {
  return population.kinds.includes('measure-observation') ? [] : [{ ...population, basis: 'boolean', anyItem: true }]
}

function weightIn({ artifact, path, place }: NamedComponent): number {
  const weight = weightOf(artifact) ?? 1
  if (typeof weight === 'number' && weight >= 0) return weight
  throw new OperationError('definition-invalid', `${place} has a weight that is not a number from 0.`, {
    expression: [`${path}.extension`],
  })
}

function checkWeights(components: readonly Component[]): void {
  if (components.some(({ weight }) => weight > 0)) return
  throw new OperationError('definition-invalid', 'The components of the composite measure weigh nothing.', {
    expression: ['Measure.relatedArtifact'],
  })
}
