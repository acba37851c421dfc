import { definitionOf, type ContentLayer } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { isObject, objectAt, objectsAt, type JsonObject } from '../../json/index.js'
import { terminologyScope, type ScopeOptions } from '../scope.js'
import { makePlan, type PlanInScope } from './make-plan.js'
import { missingImports, withImports, type PartPlan, type ValueSetPlan } from './plan.js'
import { isPage, readValueSet, type PartDefinition, type ValueSetDefinition } from './value-set.js'

/**
 * Creates the context for a value set with contained code systems; `undefined` where it contains none. Includes name them by url: a system of the form
 * `#id` is not an absolute address, as R4 requires, and would become the system of the codes.
 */
export function withContainedSystems(ctx: OperationContext, { resource }: ValueSetDefinition): OperationContext | undefined {
  const contained = objectsAt(resource, 'contained').filter((item) => item['resourceType'] === 'CodeSystem')
  return contained.length === 0 ? undefined : withCodeSystems(ctx, contained)
}

/** Creates a context in which the CodeSystem of a request is the only one with its url; without one, returns the context itself. */
export function withGivenSystem(ctx: OperationContext, codeSystem: object | undefined): OperationContext {
  return isObject(codeSystem) ? withCodeSystems(ctx, [codeSystem]) : ctx
}

/** Creates a context in which the code systems replace all others with their urls, whatever their versions. */
function withCodeSystems(ctx: OperationContext, codeSystems: readonly JsonObject[]): OperationContext {
  const layer = codeSystemsLayer(codeSystems)
  const content = ctx.content.with(layer)
  const find: ContentLayer['find'] = async (...asked) => {
    const found = await layer.find(...asked)
    return found.length > 0 ? found : content.find(...asked)
  }
  return { ...ctx, content: { ...content, find } }
}

/** Creates a layer of code systems, found by url. */
function codeSystemsLayer(resources: readonly JsonObject[]): ContentLayer {
  const systems = resources.flatMap((resource) => definitionOf(resource) ?? [])
  return { find: async (type, by, value) => (by === 'url' ? systems.filter((one) => one.type === type && one.url === value) : []) }
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
  return withImports(plan).some(({ includes, excludes }) => [...includes, ...excludes].some(lacksSystem))
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
