import { canonicalOf, compareVersions, formatCanonical } from '../../content/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { objectAt } from '../../json/index.js'
import { preparedChoice, type SystemFamily } from '../code-system/system-family.js'
import { escaped } from '../messages.js'
import { refusal } from '../refusal.js'
import type { TerminologyScope } from '../scope.js'
import type { Filter } from '../filter/operator.js'
import { expansionParameterText } from './expansion-parameter.js'
import { definedValueSet } from './defined-value-set.js'
import { containedValueSet, findValueSet } from './find-value-set.js'
import type { ConceptSetPlan, ValueSetPlan } from './plan.js'
import { nameOf, readValueSet, type ConceptSetDefinition, type ValueSetDefinition } from './value-set.js'

/**
 * Looks up everything that a value set refers to. A value set that is imported on several ways is looked up once.
 *
 * @throws {OperationError} `unprocessable` for a circle of imports; `too-costly` when imports go deeper than `maxImportDepth`;
 *   `definition-invalid` for a value set that defines nothing or a filter without value.
 */
export function makePlan(scope: TerminologyScope, valueSet: ValueSetDefinition): Promise<ValueSetPlan> {
  return planOf({ scope, made: new Map(), path: [], owner: '' }, valueSet.canonical ?? '', valueSet)
}

interface Making {
  readonly scope: TerminologyScope
  /** Finished plans by key. */
  readonly made: Map<string, ValueSetPlan>
  /** The value sets that are being made, outermost first. */
  readonly path: readonly Step[]
  /** Name of the innermost of them. */
  readonly owner: string
}

interface Step {
  /** Canonical; for a contained value set that of its container, and `#id`. */
  readonly key: string
  readonly valueSet: ValueSetDefinition
}

async function planOf(making: Making, key: string, valueSet: ValueSetDefinition): Promise<ValueSetPlan> {
  const { scope, made, path } = making
  const known = made.get(key)
  if (known !== undefined) return known
  const { resource } = valueSet
  refuseCircle(path, { key, valueSet })
  if (path.length >= scope.ctx.limits.maxImportDepth) throw tooDeep(valueSet)
  if (objectAt(resource, 'compose') === undefined && objectAt(resource, 'expansion') === undefined) throw undefinedSet(valueSet)
  scope.pace.check()
  const inner = { scope, made, path: [...path, { key, valueSet }], owner: nameOf(valueSet) }
  const excludes = await eachPlan(inner, valueSet.excludes, 'exclude')
  const includes = await eachPlan(inner, inVersionOrder(valueSet.includes), 'include')
  const match = expansionParameterText(resource, 'versionsMatch')
  const plan = { valueSet, contained: key.includes('#'), includes, excludes, ...(match !== undefined && { versionsMatch: match === 'true' }) }
  made.set(key, plan)
  return plan
}

/** Includes of one system come in descending order of their versions, so that the newest of equal codes is first. */
function inVersionOrder(includes: readonly ConceptSetDefinition[]): readonly ConceptSetDefinition[] {
  return includes.toSorted((a, b) => (a.system === b.system && a.system !== undefined ? compareVersions(b.version, a.version) : 0))
}

async function eachPlan(
  making: Making,
  definitions: readonly ConceptSetDefinition[],
  kind: 'include' | 'exclude',
): Promise<readonly ConceptSetPlan[]> {
  const plans: ConceptSetPlan[] = []
  for (const [place, definition] of definitions.entries()) {
    plans.push(await conceptSetPlan(making, definition, `ValueSet.compose.${kind}[${place}]`))
  }
  return plans
}

async function conceptSetPlan(making: Making, definition: ConceptSetDefinition, path: string): Promise<ConceptSetPlan> {
  const imports: ValueSetPlan[] = []
  const missing: string[] = []
  for (const stated of definition.imports) {
    const canonical = pinned(making.scope, stated)
    const plan = await importedPlan(making, canonical)
    if (plan === undefined) missing.push(canonical)
    else imports.push(plan)
  }
  return {
    owner: making.owner,
    definition,
    imports,
    missing,
    filters: definition.filters.map((filter, i) => statedFilter(definition, filter, `${path}.filter[${i}]`)),
    ...(definition.system !== undefined && { family: await preparedFamily(making.scope, definition.system, definition.version) }),
  }
}

async function preparedFamily(scope: TerminologyScope, system: string, include: string | undefined): Promise<SystemFamily> {
  const found = await scope.family(system)
  await preparedChoice(found, { include, rules: scope.rules })
  return found
}

/** The canonical with the version that the request wants where the import states none. */
function pinned(scope: TerminologyScope, stated: string): string {
  const { url, version } = canonicalOf(stated)
  return stated.startsWith('#') ? stated : formatCanonical(url, version ?? scope.rules.valueSets.get(url))
}

async function importedPlan(making: Making, canonical: string): Promise<ValueSetPlan | undefined> {
  const importer = making.path.at(-1)
  if (canonical.startsWith('#')) {
    const contained = importer === undefined ? undefined : containedValueSet(importer.valueSet.resource, canonical.slice(1))
    return contained === undefined ? undefined : planOf(making, `${importer?.key}${canonical}`, readValueSet(contained))
  }
  const found = await findValueSet(making.scope.ctx, canonical)
  return found === undefined ? undefined : planOf(making, formatCanonical(found.url, found.version), definedValueSet(making.scope.ctx.cache, found))
}

function statedFilter(definition: ConceptSetDefinition, filter: ConceptSetDefinition['filters'][number], path: string): Filter {
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

function tooDeep(valueSet: ValueSetDefinition): OperationError {
  return new OperationError('too-costly', `The imports of value sets go too deep at ${quoted(nameOf(valueSet))}.`)
}

function undefinedSet(valueSet: ValueSetDefinition): OperationError {
  return new OperationError('definition-invalid', `The value set ${quoted(nameOf(valueSet))} has neither compose nor expansion.`)
}
