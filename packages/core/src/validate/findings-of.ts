import { createPace, type FindingLevel, type OperationContext, type RuleSettings } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { rootNode, type TypeModel, PENDING, type TypeDefinition } from '../fhirpath/index.js'
import { isObject, stringAt, type JsonSource, type JsonObject } from '../json/index.js'
import { convertUnit } from '../ucum/index.js'
import { after, type Awaitable } from '../work/index.js'
import { createDefinitions } from './definitions/definitions.js'
import { baseTypesOf, type PlannedRules } from './definitions/specification.js'
import { noResource, noSuchType, reportRepairs } from './json-findings.js'
import { checkEntryProfiles, requestedRules, visitFirstEntry } from './rules/profile/applied-profiles.js'
import { reportSupport } from './rules/profile/must-support.js'
import { createRuleBook } from './rules/rule-book.js'
import { isConcrete } from './rules/structure/resource-type.js'
import type { Definitions } from './run/definitions.js'
import { createSink, type Positions, type Finding } from './run/finding.js'
import { emptyIndexes, type EntryProfile, nothingSeen } from './run/indexes.js'
import { type Run, type RunPolicy, isNested, type StructureCheck } from './run/run.js'
import { createWalkScheduler } from './run/scheduler.js'
import type { Suppressor } from './suppressor.js'
import { createStructureCheck, passesStructure, shapesOf } from './walk/structure-check.js'
import { createPlans } from './walk/plans.js'
import { quickCheckState } from './walk/quick-check.js'
import { visitNode } from './walk/visit-node.js'

/** The input of a validation. Options that the call leaves out come from the context, or else are the defaults. */
export interface ResolvedInput {
  readonly profiles: readonly string[]
  readonly entryProfiles: readonly EntryProfile[]
  readonly places: Positions | undefined
  readonly policy: RunPolicy
  readonly rules: RuleSettings
  readonly level: FindingLevel
  readonly suppressor: Suppressor | undefined
}

const MAX_WALKS = 32

/**
 * The findings of a walk over the resource, in document order. Returns a promise only if something must be awaited.
 *
 * @throws {OperationError} as `validate`; `too-costly` when definitions keep requiring further definitions.
 */
export function findingsOf(ctx: OperationContext, source: JsonSource, input: ResolvedInput): Awaitable<readonly Finding[]> {
  const model = typesOf(ctx)
  const type = isObject(source.value) ? stringAt(source.value, 'resourceType') : undefined
  const planned = plannedRulesOf(ctx, model, input.rules)
  if (type === undefined) return [noResource(source, input.places)]
  if (!isConcrete(model, type)) return [noSuchType(model, source, { type, places: input.places })]
  const structureCheck = createStructureCheck({
    model,
    shapes: shapesOf(model, baseTypesOf(ctx)),
    numberText: source.numberText,
    now: ctx.now(),
  })
  if (input.policy.checks === 'structure' && source.repairs.length === 0 && passesStructure(structureCheck, rootNode(model, source.value)))
    return []
  return after(createDefinitions(ctx, model), (definitions) =>
    after(fetchTypesOf(source.value, definitions, model), () =>
      walks(ctx, source, { ...planned, input, model, definitions, structureCheck }),
    ),
  )
}

/** Reads settings once if the same object comes with every call, as that of the context does. */
function plannedRulesOf(ctx: OperationContext, model: TypeModel, settings: RuleSettings): PlannedRules {
  const { ruleBooks } = baseTypesOf(ctx)
  const known = ruleBooks.get(settings)
  if (known !== undefined) return known
  const rules = createRuleBook(model, settings)
  const made = { rules, plans: createPlans(rules) }
  ruleBooks.set(settings, made)
  return made
}

interface WalkParts extends PlannedRules {
  readonly input: ResolvedInput
  readonly model: TypeModel
  readonly definitions: Definitions
  readonly structureCheck: StructureCheck
}

/** Repeats the walk until all definitions that it asks for are known. */
function walks(ctx: OperationContext, source: JsonSource, parts: WalkParts, left = MAX_WALKS): Awaitable<readonly Finding[]> {
  if (left === 0)
    throw new OperationError('too-costly', `The definitions that the resource needs did not resolve within ${MAX_WALKS} rounds.`)
  return after(walk(ctx, source, parts), (findings) => {
    const answers = parts.definitions.settle()
    return answers === undefined ? findings : answers.then(() => walks(ctx, source, parts, left - 1))
  })
}

function walk(ctx: OperationContext, source: JsonSource, parts: WalkParts): Awaitable<readonly Finding[]> {
  const { input, model, rules, plans, definitions, structureCheck } = parts
  const root = rootNode(model, source.value)
  const findings = createSink(ctx.limits.maxIssues, {
    places: input.places,
    hides: input.suppressor?.hides,
    ...(Object.keys(input.rules).length > 0 && { severityOf: rules.severityOf }),
  })
  const { scheduler, finish } = createWalkScheduler(createPace(ctx), findings)
  const run: Run = {
    model,
    root,
    now: structureCheck.now,
    convertUnit: ctx.convertUnit ?? convertUnit,
    numberText: source.numberText,
    policy: input.policy,
    isAsked: input.profiles.length > 0,
    entryProfiles: input.entryProfiles,
    checksTypes: true,
    rules,
    plans,
    quickCheck: quickCheckState(root),
    definitions,
    findings,
    scheduler,
    indexes: emptyIndexes(),
    seen: nothingSeen(),
    structureCheck,
    visit: visitNode,
  }
  reportRepairs(run, source.repairs)
  visitNode(run, run.root, requestedRules(run, input.profiles))
  visitFirstEntry(run, input.profiles)
  if (run.entryProfiles.length > 0) checkEntryProfiles(run)
  if (run.policy.mustSupport === 'all') run.scheduler.atEnd(() => reportSupport(run))
  return after(finish(), findings.findings)
}

function typesOf(ctx: OperationContext): TypeModel {
  if (ctx.types === undefined)
    throw new OperationError(
      'definition-required',
      'Validation needs the types of a FHIR release: those of r4() of @fhir-ops/r4, given to createContext.',
    )
  return ctx.types
}

/**
 * Fetches the definitions of all types in a resource together, if that of the resource itself is not known yet. Otherwise walks would discover them
 * level by level, with one more walk for each level. `undefined` when there is nothing to wait for.
 */
function fetchTypesOf(resource: unknown, definitions: Definitions, model: TypeModel): Promise<unknown> | undefined {
  const type = isObject(resource) ? (stringAt(resource, 'resourceType') ?? '') : ''
  if (definitions.baseType(type) !== PENDING) return undefined
  for (const name of typesIn(model, resource)) definitions.baseType(name)
  return definitions.settle()
}

/** Maximum number of values examined; later ones seldom have other types. */
const MOST_VALUES = 5_000

/** Names of the types with definitions of their own that occur in the JSON of a resource, as far as it is examined. */
function typesIn(model: TypeModel, resource: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  // Without recursion, because parsed objects may be nested deeper than the stack allows.
  const open: Typed[] = [{ value: resource, type: rootNode(model, resource).type }]
  for (let left = MOST_VALUES; left > 0; left--) {
    const next = open.pop()
    if (next === undefined) break
    const { value, type } = next
    if (Array.isArray(value)) for (const item of value.slice(0, left)) open.push({ value: item, type })
    else if (isObject(value)) addMembers(model, value, type.kind === 'resource' ? namedType(model, value, type) : type, { found, open })
    else found.add(type.name)
  }
  return found
}

/** A value and the type of its element. */
interface Typed {
  readonly value: unknown
  readonly type: TypeDefinition
}

/** The type that a resource states in `resourceType`. */
function namedType(model: TypeModel, resource: JsonObject, otherwise: TypeDefinition): TypeDefinition {
  return model.type(stringAt(resource, 'resourceType') ?? '') ?? otherwise
}

function addMembers(
  model: TypeModel,
  object: JsonObject,
  type: TypeDefinition,
  { found, open }: { readonly found: Set<string>; readonly open: Typed[] },
): void {
  if (!isNested(type)) found.add(type.name)
  for (const [name, value] of Object.entries(object)) {
    const slot = type.members.get(name)
    const inner = slot && model.type(slot.type)
    if (inner !== undefined) open.push({ value, type: inner })
  }
}
