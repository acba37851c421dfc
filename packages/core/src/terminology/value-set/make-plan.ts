import { canonicalOf, compareVersions, formatCanonical, type Definition } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { objectAt, objectsAt, type JsonObject } from '../../json/index.js'
import { preparedChoice, type SystemFamily } from '../code-system/system-family.js'
import type { Filter } from '../../code-system/index.js'
import type { PlannedFilter } from '../filter/concept-set.js'
import { escaped, refusal } from '../messages.js'
import { codeSystemsLayer, supplementStep, terminologyScope, type ScopeOptions, type TerminologyScope } from '../scope.js'
import { NO_VERSION, versionFits } from '../versions.js'
import {
  definedValueSet,
  demandedSupplements,
  expansionParameterText,
  isPage,
  nameOf,
  readValueSet,
  type PartDefinition,
  type ValueSetDefinition,
} from './value-set.js'
import { containedValueSet, findValueSet } from './find-value-set.js'
import { unusableElement } from '../element-shape.js'
import { completePlan, everyPart, missingImports, withImports, type PartPlan, type ValueSetPlan } from './plan.js'

/**
 * Resolves everything that a value set refers to. A value set that is imported on several paths is resolved once.
 *
 * @throws {OperationError} `unprocessable` for circular imports; `too-costly` for imports deeper than `maxImportDepth` and for too many versions of a code
 *   system; `definition-invalid` for a value set that defines nothing, a malformed element or a filter without value;
 *   `not-supported` for one with modifier extensions or implicit rules.
 */
export function makePlan(scope: TerminologyScope, valueSet: ValueSetDefinition): Promise<ValueSetPlan> {
  return planOf({ scope, made: new Map(), path: [] }, valueSet.canonical ?? '', valueSet)
}

/** A plan with its scope. */
export interface PlanInScope {
  readonly scope: TerminologyScope
  readonly plan: ValueSetPlan
}

/**
 * As `makePlan`, in a scope with the supplements that the value set and those it imports require: which codes an import has may depend on what a
 * supplement says of them.
 *
 * @param options Its supplements are used as well.
 * @returns Also the canonicals of all supplements in use.
 * @throws {OperationError} as `terminologyScope` and `makePlan`.
 */
export async function planWithSupplements(
  ctx: OperationContext,
  valueSet: ValueSetDefinition,
  options: ScopeOptions = {},
): Promise<PlanInScope & { readonly supplements: readonly string[] }> {
  const supplements = [...new Set([...(options.supplements ?? []), ...demandedSupplements(valueSet.resource)])]
  const scope = await terminologyScope(ctx, { ...options, supplements })
  const plan = await makePlan(scope, valueSet)
  const imported = withImports(plan).flatMap((other) => demandedSupplements(other.valueSet.resource))
  const further = imported.filter((canonical) => !supplements.includes(canonical))
  if (further.length === 0) return { scope, plan, supplements }
  const made = await planWithSupplements({ ...ctx, explain: undefined }, valueSet, {
    ...options,
    supplements: [...supplements, ...further],
  })
  for (const canonical of new Set(further)) ctx.explain?.step(supplementStep(canonical))
  return { ...made, scope: { ...made.scope, ctx } }
}

interface Making {
  readonly scope: TerminologyScope
  /** Finished plans by key. */
  readonly made: Map<string, ValueSetPlan>
  /** The value sets that are being resolved, outermost first. */
  readonly path: readonly Step[]
}

interface Step {
  /** Canonical; for a contained value set, the key of its container and `#id`. */
  readonly key: string
  readonly valueSet: ValueSetDefinition
}

async function planOf(making: Making, key: string, valueSet: ValueSetDefinition): Promise<ValueSetPlan> {
  const { scope, made, path } = making
  const known = made.get(key)
  if (known !== undefined) return known
  refuseCircle(path, { key, valueSet })
  if (path.length >= scope.ctx.limits.maxImportDepth) throw tooDeep(valueSet)
  refuseMalformed(valueSet)
  refuseEmpty(valueSet)
  scope.pace.check()
  const inner = { scope, made, path: [...path, { key, valueSet }] }
  const excludes = await partPlans(inner, valueSet, 'exclude')
  const includes = await partPlans(inner, valueSet, 'include')
  const match = expansionParameterText(valueSet.resource, 'versionsMatch')
  const stated = {
    valueSet,
    contained: key.includes('#'),
    includes,
    excludes,
    ...(match !== undefined && { versionsMatch: match === 'true' }),
  }
  const complete = await completePlan(scope.pace, stated)
  const plan = { ...complete, includes: inVersionOrder(includes) }
  made.set(key, plan)
  return plan
}

/** Sorts includes that state a version of the same system, the newest first, so that it wins over equal codes; other includes keep their positions. */
function inVersionOrder(plans: readonly PartPlan[]): readonly PartPlan[] {
  const bySystem = Map.groupBy(plans, sortedSystem)
  if (bySystem.size === plans.length) return plans
  const sorted = new Map(
    Array.from(bySystem, ([system, group]) => {
      return [system, (system === undefined ? group : newestFirst(group)).values()]
    }),
  )
  return plans.flatMap((plan) => sorted.get(sortedSystem(plan))?.next().value ?? [])
}

function sortedSystem({ definition }: PartPlan): string | undefined {
  return definition.version === undefined ? undefined : definition.system
}

function newestFirst(plans: readonly PartPlan[]): readonly PartPlan[] {
  const byVersion = Map.groupBy(plans, ({ definition }) => definition.version)
  return [...byVersion.entries()].sort(([a], [b]) => compareVersions(b, a)).flatMap(([, group]) => group)
}

async function partPlans(making: Making, valueSet: ValueSetDefinition, kind: PartPlan['kind']): Promise<readonly PartPlan[]> {
  const plans: PartPlan[] = []
  for (const [i, stated] of (kind === 'include' ? valueSet.includes : valueSet.excludes).entries()) {
    const location = { kind, valueSet, path: `ValueSet.compose.${kind}[${i}]` }
    for (const definition of await inEachVersion(making.scope, stated)) plans.push(await partPlan(making, definition, location))
    await making.scope.pace.step()
  }
  return plans
}

/**
 * Returns the include or exclude itself; if its version is `*`, one for each known version of the code system, including a definition without version.
 *
 * @see https://hl7.org/fhir/R4/valueset-definitions.html#ValueSet.compose.include.version
 */
async function inEachVersion(scope: TerminologyScope, stated: PartDefinition): Promise<readonly PartDefinition[]> {
  if (stated.system === undefined || stated.version !== ALL_VERSIONS) return [stated]
  const family = await scope.family(stated.system)
  const { version: _, ...unversioned } = stated
  if (family.versions.length === 0) return [unversioned]
  const versions = family.has(NO_VERSION) ? [NO_VERSION, ...family.versions] : family.versions
  return versions.map((version) => ({ ...unversioned, version }))
}

const ALL_VERSIONS = '*'

type PartLocation = Pick<PartPlan, 'kind' | 'valueSet' | 'path'>

async function partPlan(making: Making, definition: PartDefinition, location: PartLocation): Promise<PartPlan> {
  refuseInvalidPart(definition, location)
  const imports: ValueSetPlan[] = []
  const missing: string[] = []
  for (const stated of definition.imports) {
    const canonical = pinned(making.scope, stated)
    const plan = await importedPlan(making, canonical)
    if (plan === undefined) missing.push(canonical)
    else imports.push(plan)
  }
  return {
    ...location,
    definition,
    imports,
    missing,
    filters: await plannedFilters(definition, location),
    ...(definition.system !== undefined && { family: await preparedFamily(making.scope, definition.system, definition.version) }),
  }
}

async function preparedFamily(scope: TerminologyScope, system: string, include: string | undefined): Promise<SystemFamily> {
  const found = await scope.family(system)
  await preparedChoice(found, { include, rules: scope.rules })
  return found
}

/** Adds the version that the request states, either as forced version or as default for an import without version. */
function pinned({ rules }: TerminologyScope, stated: string): string {
  const { url, version, fragment } = canonicalOf(stated)
  if (url === '') return stated
  const wanted = rules.forcedValueSets?.get(url) ?? version ?? rules.valueSets?.get(url) ?? rules.checkedValueSets?.get(url)
  return formatCanonical(url, wanted) + (fragment === undefined ? '' : `#${fragment}`)
}

function refuseOtherVersion({ rules }: TerminologyScope, { url, version }: Definition): void {
  const required = rules.checkedValueSets?.get(url)
  if (required === undefined || versionFits(required, version)) return
  throw refusal('VALUESET_IMPORT_VERSION_CHECK', { valueSet: url, version: version ?? '', required })
}

async function importedPlan(making: Making, canonical: string): Promise<ValueSetPlan | undefined> {
  if (canonical.startsWith('#')) return containedPlan(making, canonical)
  const found = await findValueSet(making.scope.ctx, canonical)
  if (found === undefined) {
    refuseItself(making.path, canonical)
    return undefined
  }
  refuseOtherVersion(making.scope, found)
  return planOf(making, formatCanonical(found.url, found.version), definedValueSet(making.scope.ctx.cache, found))
}

/** Finds a contained value set in the innermost value set on the path that contains it. */
function containedPlan(making: Making, reference: string): Promise<ValueSetPlan> | undefined {
  const holder = making.path.findLast(({ valueSet }) => containedValueSet(valueSet.resource, reference.slice(1)) !== undefined)
  const contained = holder === undefined ? undefined : containedValueSet(holder.valueSet.resource, reference.slice(1))
  return contained === undefined ? undefined : planOf(making, `${holder?.key}${reference}`, readValueSet(contained))
}

async function plannedFilters(definition: PartDefinition, { path }: PartLocation): Promise<readonly PlannedFilter[]> {
  const filters = definition.filters.map((filter, i) => statedFilter(definition, filter, `${path}.filter[${i}]`))
  if (!filters.some(({ op }) => op === 'regex')) return filters
  const { compileRegex } = await import('../../regex/index.js')
  return filters.map((filter) => (filter.op === 'regex' ? { ...filter, compile: compileRegex } : filter))
}

function statedFilter(definition: PartDefinition, filter: PartDefinition['filters'][number], path: string): Filter {
  const { property, op, value } = filter
  if (value !== undefined && value !== '') return { property, op, value }
  const values = { system: definition.system ?? '', property, op }
  throw refusal('UNABLE_TO_HANDLE_SYSTEM_FILTER_WITH_NO_VALUE', values, { expression: [path] })
}

function refuseCircle(path: readonly Step[], { key, valueSet }: Step): void {
  const start = path.findIndex((step) => step.key === key)
  if (start < 0) return
  const circle = path.slice(start).map((step) => escaped(nameOf(step.valueSet)))
  throw refusal('VALUESET_CIRCULAR_REFERENCE', { valueSet: nameOf(valueSet), path: circle.join(', ') })
}

/** A value set that is not stored, but came with the request, cannot be found by those that it imports. */
function refuseItself(path: readonly Step[], canonical: string): void {
  const { url, version } = canonicalOf(canonical)
  const itself = path.find(({ valueSet }) => valueSet.url === url && (version === undefined || valueSet.version === version))
  if (itself !== undefined) refuseCircle(path, itself)
}

function tooDeep(valueSet: ValueSetDefinition): OperationError {
  return new OperationError('too-costly', `Value set imports are nested too deeply at ${quoted(nameOf(valueSet))}.`)
}

/** Refuses malformed elements, because a malformed list of codes or filters that is read as absent would include every code of the system. */
function refuseMalformed(valueSet: ValueSetDefinition): void {
  if (valueSet.malformed !== undefined) throw unusableElement(`The value set ${quoted(nameOf(valueSet))}`, valueSet.malformed)
}

/** Refuses a value set without content, or with only one page of an expansion, which would silently lack the codes of other pages. */
function refuseEmpty(valueSet: ValueSetDefinition): void {
  const { resource, includes } = valueSet
  const expansion = objectAt(resource, 'compose') === undefined ? objectAt(resource, 'expansion') : undefined
  const isPart = expansion !== undefined && isPage(expansion)
  if (!isPart && (includes.length > 0 || expansion !== undefined)) return
  if (isPart) throw invalid(valueSet, 'has one page of an expansion', 'ValueSet.expansion')
  throw invalid(valueSet, 'includes nothing', 'ValueSet.compose.include')
}

/** Checks the invariants vsd-1, vsd-2 and vsd-3. @see https://hl7.org/fhir/R4/valueset.html#invs */
function refuseInvalidPart({ system, concepts, filters, imports }: PartDefinition, { kind, valueSet, path }: PartLocation): void {
  if (concepts !== undefined && filters.length > 0) throw invalid(valueSet, `has an ${kind} with both concepts and filters`, path)
  if (system !== undefined || (imports.length > 0 && concepts === undefined && filters.length === 0)) return
  throw invalid(valueSet, 'has an include without system', path)
}

function invalid(valueSet: ValueSetDefinition, problem: string, path: string): OperationError {
  return new OperationError('definition-invalid', `The value set ${quoted(nameOf(valueSet))} ${problem}.`, { expression: [path] })
}

/**
 * Creates a plan from the expansion in a ValueSet resource, if code systems or value sets that it needs are unknown: the entries of the expansion then
 * define the codes of the unknown systems. `undefined` where nothing is missing, or where there is no complete expansion.
 */
export async function planOfExpansion({ scope, plan }: PlanInScope, options: ScopeOptions): Promise<PlanInScope | undefined> {
  const { resource } = plan.valueSet
  if (!isLacking(plan) || !isWhole(objectAt(resource, 'expansion'))) return undefined
  const { compose: _, ...carrying } = resource
  const valueSet = readValueSet(carrying)
  const { includes } = await makePlan(scope, valueSet)
  const layer = codeSystemsLayer(includes.filter(lacksSystem).map(({ definition }) => systemOf(definition)))
  const own = await terminologyScope({ ...scope.ctx, content: scope.ctx.content.with(layer) }, options)
  return { scope: own, plan: await makePlan(own, valueSet) }
}

function isLacking(plan: ValueSetPlan): boolean {
  if (missingImports(plan).length > 0) return true
  return withImports(plan).some((one) => everyPart(one).some(lacksSystem))
}

function lacksSystem({ family, definition: { version } }: PartPlan): boolean {
  return family !== undefined && (version === undefined ? family.unknown : !family.has(version))
}

/** Extensions of incomplete expansions. */
const OPEN: ReadonlySet<unknown> = new Set(
  ['unclosed', 'toocostly'].map((name) => `http://hl7.org/fhir/StructureDefinition/valueset-${name}`),
)

function isWhole(expansion: JsonObject | undefined): boolean {
  return expansion !== undefined && !isPage(expansion) && !objectsAt(expansion, 'extension').some(({ url }) => OPEN.has(url))
}

/** Creates a fragment of a code system from the entries of an expansion. */
function systemOf({ system, version, concepts = [] }: PartDefinition): JsonObject {
  const concept = concepts.map(({ concept: listed }) => ({
    ...listed,
    property: [
      { code: 'inactive', valueBoolean: listed.inactive === true },
      { code: 'notSelectable', valueBoolean: listed.abstract === true },
    ],
  }))
  return { resourceType: 'CodeSystem', url: system, version, status: 'active', content: 'fragment', concept }
}
