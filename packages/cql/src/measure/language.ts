import type { CriteriaLanguage, GroupCounts, GroupPlan, Population, Scope, StratifierCriterion } from 'fhir-ops/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { canonicalOf } from 'fhir-ops/internal/content'
import { createPace } from 'fhir-ops/internal/context'
import { parseSearch } from 'fhir-ops/search'
import { allMatches } from 'fhir-ops/storage'
import { quoted } from 'fhir-ops/internal/errors'
import { membershipsOf, patientIds, type Membership } from 'fhir-ops/internal/evaluate'
import type { Compute, Evaluation, RetrieveRequest } from '../compile/compiler.js'
import { loadShared, loadRecord } from '../data/load.js'
import { createRetriever } from '../data/retrieve.js'
import { createEvaluation } from '../libraries/evaluate.js'
import { loadLibrary, type LibraryResource } from '../libraries/content.js'
import { compileLibrary, type CqlLibrary } from '../libraries/library.js'
import { createTerminology, type Terminology } from '../operations/terminology.js'
import type { CqlTranslator } from '../translator/translator.js'
import { decimalOf } from '../values/compare.js'
import { numberOf } from '../values/decimal.js'
import { closedInterval } from '../values/interval.js'
import { boundaryOf, parseDateTime } from '../values/temporal.js'
import { literalText } from '../values/text.js'
import type { UnitConversion } from '../values/units.js'
import { isFhir, isList, isQuantity, type FhirElement, type Value } from '../values/value.js'
import { groupTotal, type Observed, type StrataOfMembers, type SubjectResult } from './groups.js'
import { stratumValueOf } from './values.js'
import { AMOUNT, checkOptions, having, inputShape, NUMBER, type InputShape } from 'fhir-ops/internal/input'

/** How criteria in CQL are evaluated. */
export interface CqlLanguageOptions {
  /** Translates libraries that bring no ELM; these are refused when absent. */
  readonly translator?: CqlTranslator | undefined
  /** Offset in minutes of times that have none, and of the period. Default 0. */
  readonly offset?: number | undefined
  /** Steps of the evaluation of one subject: items looked at, resources read. Default 1,000,000. */
  readonly maxSteps?: number | undefined
}

const SHAPE: InputShape = inputShape<CqlLanguageOptions>({
  translator: having('a translator', ['translate']),
  offset: NUMBER,
  maxSteps: AMOUNT,
})

const NAMES = ['text/cql-identifier', 'text/cql.identifier', 'text/cql']
const PERIOD = 'Measurement Period'
const MAX_STEPS = 1_000_000

/**
 * Criteria that name definitions of the Measure's library, for `evaluateMeasure` and `createEvaluateMeasureOperation`.
 *
 * A definition gives a boolean (basis `boolean`) or a list, whose items are counted; observations are functions. Definitions and value sets
 * are all resolved before the first subject.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 * @see https://hl7.org/fhir/us/cqfmeasures/measure-conformance.html
 */
export function createCqlLanguage(options: CqlLanguageOptions = {}): CriteriaLanguage {
  checkOptions('createCqlLanguage', SHAPE, options)
  return {
    names: NAMES,
    valueNames: NAMES,
    evaluator: (ctx, scope) => {
      let prepared: Promise<Prepared> | undefined
      return async (group) => await countsOf(ctx, { scope, group, prepared: await (prepared ??= prepare(ctx, scope, options)) })
    },
  }
}

/** The library of a Measure, ready to compile its definitions. */
interface Prepared {
  readonly library: CqlLibrary
  readonly terminology: Terminology
  readonly requests: RetrieveRequest[]
  readonly model: TypeModel
  readonly convert: UnitConversion
  readonly offset: number
  readonly maxSteps: number
}

async function prepare(ctx: OperationContext, scope: Scope, options: CqlLanguageOptions): Promise<Prepared> {
  const model = ctx.types
  if (model === undefined) throw new OperationError('not-supported', 'CQL needs the types of FHIR, which are not loaded.')
  const loaded = await loadLibrary({ ctx, translator: options.translator }, await libraryOf(ctx, scope))
  const terminology = createTerminology(ctx)
  const requests: RetrieveRequest[] = []
  const offset = options.offset ?? 0
  const convert: UnitConversion = ctx.convertUnit ?? ((from, to) => (from === to ? 1 : undefined))
  const library = compileLibrary(loaded.elm, {
    model,
    convert,
    offset,
    include: (id) => loaded.includes.get(id),
    parameters: new Map([[PERIOD, periodOf(scope, offset)]]),
    terminology,
    onRetrieve: (request) => requests.push(request),
  })
  return { library, terminology, requests, model, convert, offset, maxSteps: options.maxSteps ?? MAX_STEPS }
}

/** The first library of the Measure, by canonical or `Library/<id>`. */
async function libraryOf(ctx: OperationContext, { measure }: Scope): Promise<LibraryResource> {
  const [name] = Array.isArray(measure['library']) ? measure['library'] : []
  if (typeof name !== 'string')
    throw new OperationError('definition-not-found', 'The Measure names no library, which its criteria need.', {
      expression: ['Measure.library'],
    })
  ctx.authorize?.('read', 'Library')
  const id = /^Library\/([A-Za-z0-9\-.]{1,64})$/.exec(name)?.[1]
  const { url, version } = canonicalOf(name)
  const found =
    id === undefined ? (await ctx.content.resolve('Library', url, version))?.resource : (await ctx.storage.read('Library', id))?.resource
  if (found === undefined)
    throw new OperationError('definition-not-found', `The library ${quoted(name)} of the Measure does not exist.`, {
      expression: ['Measure.library'],
    })
  return found
}

/** The period from its first to its last millisecond. */
function periodOf({ period }: Scope, offset: number): Value {
  const [start, end] = [parseDateTime(period.start, offset), parseDateTime(period.end, offset)]
  if (start === undefined || end === undefined) return null
  return closedInterval(boundaryOf(start, 'least') ?? null, boundaryOf(end, 'greatest') ?? null, 'DateTime')
}

interface GroupWork {
  readonly scope: Scope
  readonly group: GroupPlan
  readonly prepared: Prepared
}

async function countsOf(ctx: OperationContext, { scope, group, prepared }: GroupWork): Promise<GroupCounts> {
  const memberships = membershipsOf(group, 'allowed')
  const compiled = compileGroup(group, memberships, prepared)
  await prepared.terminology.load()
  const total = groupTotal(group, memberships)
  for await (const evaluation of evaluations(ctx, scope, prepared)) total.add(subjectResult(compiled, evaluation))
  return total.counts(scope.listed === true)
}

/** A named definition, or function of an item, of a group. */
interface Named {
  readonly definition: Compute | undefined
  /** The function of one item; the item is put into `item` before it is called. */
  readonly ofItem: Compute | undefined
  readonly item: { value: Value }
  readonly place: string
  readonly basis: string | undefined
}

interface CompiledStratifier {
  readonly criteria: readonly Named[]
  readonly byComponents: boolean
}

interface CompiledGroup {
  readonly memberships: readonly Membership[]
  readonly populations: readonly Named[]
  readonly stratifiers: readonly CompiledStratifier[]
  readonly prepared: Prepared
}

function compileGroup(group: GroupPlan, memberships: readonly Membership[], prepared: Prepared): CompiledGroup {
  return {
    memberships,
    prepared,
    populations: group.populations.map((population) => namedBy(population, prepared)),
    stratifiers: group.stratifiers.map(({ criteria, byComponents }) => ({
      byComponents,
      criteria: criteria.map((criterion) => namedBy(criterion, prepared)),
    })),
  }
}

function namedBy(criterion: Population | StratifierCriterion, { library }: Prepared): Named {
  const { expression, place, path, basis } = criterion
  const item: { value: Value } = { value: null }
  const definition = library.definition(expression)?.compute ?? library.invocable(expression, [])
  const ofItem = definition === undefined ? library.invocable(expression, [() => item.value]) : undefined
  if (definition === undefined && ofItem === undefined)
    throw new OperationError('definition-not-found', `${place}: library ${library.id} has no definition ${quoted(expression)}.`, {
      expression: [`${path}.criteria.expression`],
    })
  return { definition, ofItem, item, place, basis }
}

/** One evaluation for each patient that the report is about, in order of their ids. */
async function* evaluations(ctx: OperationContext, scope: Scope, prepared: Prepared): AsyncGenerator<Evaluation> {
  const { model, convert, offset, requests, maxSteps } = prepared
  const types = [...new Set(requests.filter(({ unfiltered }) => !unfiltered).map(({ type }) => type))]
  const unfilteredTypes = [...new Set(requests.filter(({ unfiltered }) => unfiltered).map(({ type }) => type))]
  const { subjectType } = scope
  const shared = await loadShared(ctx, model, { subjectType, types, unfilteredTypes })
  const everywhere = createRetriever(shared.unfiltered, { model, convert, offset })
  const pace = createPace(ctx)
  for (const id of await (subjectType === 'Patient' ? patientIds(ctx, scope) : allIds(ctx, subjectType))) {
    await pace.step()
    const record = await loadRecord(ctx, model, { type: subjectType, id }, shared.own)
    const own = createRetriever([...record.resources, ...shared.common], { model, convert, offset })
    yield createEvaluation({
      subject: record.subject,
      now: ctx.now(),
      offset,
      maxSteps,
      retrieve: (request) => (request.unfiltered ? everywhere(request) : own(request)),
    })
  }
}

/** Ids of all subjects of a type other than Patient. */
async function allIds(ctx: OperationContext, type: string): Promise<readonly string[]> {
  ctx.authorize?.('search', type)
  if (ctx.search === undefined) throw new OperationError('not-supported', 'Subjects are found by search parameters, which are not loaded.')
  const { query } = await parseSearch(type, [], ctx.search)
  const ids: string[] = []
  for await (const { id } of allMatches(ctx.storage, { ...query, limit: 500 })) {
    ids.push(id)
    if (ids.length > ctx.limits.maxExpansion)
      throw new OperationError('too-costly', `A Measure is evaluated for at most ${ctx.limits.maxExpansion} subjects.`)
  }
  return ids
}

function subjectResult(group: CompiledGroup, evaluation: Evaluation): SubjectResult {
  const { memberships, populations } = group
  const sets = populations.map((population, index) =>
    memberships[index]?.observed === undefined ? itemsOf(population, evaluation) : new Map<string, Value>(),
  )
  const members = memberships.map(({ all, none, observed }) =>
    observed === undefined
      ? [...(sets[all[0] ?? -1] ?? new Map<string, Value>()).keys()].filter((key) => isMember(key, { all, none }, sets))
      : [],
  )
  const observations = memberships.map((membership, index) =>
    membership.observed === undefined ? [] : observed(populations[index], { membership, members, sets }, evaluation),
  )
  const strata = group.stratifiers.map((stratifier) => strataOf(stratifier, { members, sets, group }, evaluation))
  return { members, observations, strata }
}

function isMember(key: string, { all, none }: Membership, sets: readonly ReadonlyMap<string, Value>[]): boolean {
  return all.every((index) => sets[index]?.has(key) === true) && none.every((index) => sets[index]?.has(key) !== true)
}

/** What satisfies a criterion, by reference: the subject itself for true, else the items of the list. */
function itemsOf(population: Named, evaluation: Evaluation): ReadonlyMap<string, Value> {
  const value = population.definition?.(evaluation) ?? null
  const { subject } = evaluation
  if (value === null || value === false) return new Map()
  if (value === true) {
    if (population.basis !== undefined && population.basis !== 'boolean') throw misfit(population, 'gives a boolean')
    return subject === null ? new Map() : new Map([[referenceOf(subject), subject]])
  }
  if (population.basis === 'boolean') throw misfit(population, `gives ${isList(value) ? 'a list' : 'a value'}`)
  const subjectKey = subject === null ? '' : referenceOf(subject)
  return new Map(
    (isList(value) ? value : [value]).flatMap((item) =>
      item === null ? [] : [[isFhir(item) ? referenceOf(item) : `${subjectKey}#${literalText(item)}`, item] as const],
    ),
  )
}

function misfit({ place, basis = 'boolean' }: Named, what: string): OperationError {
  return new OperationError('definition-invalid', `${place} ${what}, while its basis is ${quoted(basis)}.`)
}

function referenceOf({ type, json }: FhirElement): string {
  const id = typeof json === 'object' && json !== null && 'id' in json && typeof json.id === 'string' ? json.id : JSON.stringify(json)
  return `${type.name}/${id}`
}

interface Members {
  readonly members: readonly (readonly string[])[]
  readonly sets: readonly ReadonlyMap<string, Value>[]
}

/** The observations of the members of the observed population that are not excluded. */
function observed(
  population: Named | undefined,
  { membership, members, sets }: Members & { readonly membership: Membership },
  evaluation: Evaluation,
): readonly Observed[] {
  const index = membership.observed ?? -1
  const excluded = new Set(membership.none.flatMap((none) => members[none] ?? []))
  return (members[index] ?? []).flatMap((member) => {
    if (excluded.has(member) || population === undefined) return []
    const amount = amountOf(valueFor(population, sets[index]?.get(member) ?? null, evaluation))
    return amount === undefined ? [] : [{ member, value: amount }]
  })
}

function valueFor({ definition, ofItem, item }: Named, member: Value, evaluation: Evaluation): Value {
  if (ofItem === undefined) return definition?.(evaluation) ?? null
  item.value = member
  return ofItem(evaluation)
}

function amountOf(value: Value): number | undefined {
  const amount = isQuantity(value) ? value.value : decimalOf(value)
  return amount === undefined ? undefined : numberOf(amount)
}

/** The strata that the members of a subject are in. */
function strataOf(
  { criteria, byComponents }: CompiledStratifier,
  { members, sets, group }: Members & { readonly group: CompiledGroup },
  evaluation: Evaluation,
): StrataOfMembers {
  const [only] = criteria
  const whole = criteria.length === 1 && only?.definition !== undefined ? only.definition(evaluation) : null
  if (!byComponents && isList(whole) && whole.every((item) => item !== null && isFhir(item))) {
    const items = new Set(whole.flatMap((item) => (isFhir(item) ? [referenceOf(item)] : [])))
    return new Map([['', { values: undefined, isIn: (member: string) => items.has(member) }]])
  }
  const all = new Map(
    members.flatMap((keys, index) => keys.map((key) => [key, sets[group.memberships[index]?.all[0] ?? index]?.get(key) ?? null] as const)),
  )
  const strata = new Map<string, { values: StratumValueList; members: Set<string> }>()
  for (const [key, item] of all)
    for (const values of combinations(criteria, item, { evaluation, group })) {
      const name = JSON.stringify(values.map(({ concept }) => concept))
      const known = strata.get(name) ?? { values, members: new Set<string>() }
      known.members.add(key)
      strata.set(name, known)
    }
  return new Map([...strata].map(([name, { values, members: inside }]) => [name, { values, isIn: (member: string) => inside.has(member) }]))
}

type StratumValueList = readonly NonNullable<ReturnType<typeof stratumValueOf>>[]

/** The values of a member, one for each criterion; a criterion that gives a list puts the member into a stratum for each of its values. */
function combinations(
  criteria: readonly Named[],
  item: Value,
  { evaluation, group }: { readonly evaluation: Evaluation; readonly group: CompiledGroup },
): readonly StratumValueList[] {
  return criteria.reduce<readonly StratumValueList[]>(
    (lists, criterion) => {
      const value = valueFor(criterion, item, evaluation)
      const values = (isList(value) ? value : [value]).map((one) => strataValue(one, criterion, group.prepared))
      return lists.flatMap((list) => values.map((one) => [...list, one]))
    },
    [[]],
  )
}

function strataValue(value: Value, { place }: Named, { offset, model }: Prepared): StratumValueList[number] {
  const made = stratumValueOf(value, { model, offset })
  if (made === undefined) throw new OperationError('definition-invalid', `${place} gives a value that cannot name a stratum.`)
  return made
}
