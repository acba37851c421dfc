import {
  createPace,
  type BestPractice,
  type FindingLevel,
  type OperationContext,
  type Pace,
  type Refusal,
  type ValidationPolicy,
} from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { rootNode, type TypeModel } from '../fhirpath/index.js'
import { checkInput, FLAG, inputShape, listOf, needed, OBJECT, oneOf, TEXT } from '../input/index.js'
import { isObject, isString, readJsonSource, stringAt, type JsonObject, type JsonSource } from '../json/index.js'
import { createFacts, type Facts } from './facts/facts.js'
import type { Finding } from './finding.js'
import { placeFinder, type PlaceFinder } from './finding-places.js'
import { createSink, type FindingSection } from './finding-sink.js'
import { createSuppressor, type Suppressor } from './suppressor.js'
import { faultFinding, noResource, noSuchType, reportSlips } from './json-findings.js'
import { isConcrete } from './rules/structure/check-resource-type.js'
import { convertUnit } from '../ucum/index.js'
import { requestedRules, visitFirstEntry } from './rules/profile/requested-profiles.js'
import { specificationOf } from './facts/specification.js'
import { flawlessCheck, isFlawless, type FlawlessCheck } from './structure/flawless.js'
import { shapesOf } from './structure/shape.js'
import type { Checks, Run } from './walk/run.js'
import { visitNode } from './walk/visit-node.js'
import { paced, type Work } from '../work/index.js'

/** What `validate` is asked. Suppressions and refusals add to those of the context; what else it says of findings goes before what the context says. */
export interface ValidateInput extends ValidationPolicy {
  /**
   * The resource as JSON text, as what `parseJsonSource` made of it, or as a parsed object. An object has lost the form of its numbers,
   * duplicate names and places.
   */
  readonly resource: string | JsonSource | JsonObject
  /** Canonicals of profiles that the resource must conform to, beside those that it names itself. */
  readonly profiles?: readonly string[] | undefined
  /** Tell line and column of each finding; with a text, or a source that was read with `positions`. Default false. */
  readonly places?: boolean | undefined
  /**
   * `structure` checks only what FHIR's own types say about JSON: names, lists, choices, cardinality and the form of primitive values. No
   * profiles, codes, invariants, references, narratives or rules of resource types. Default `all`.
   */
  readonly checks?: Checks | undefined
}

const VALIDATE_INPUT = inputShape<ValidateInput>({
  resource: needed({ words: 'a JSON text or an object', is: (value) => isString(value) || isObject(value) }),
  profiles: listOf(TEXT),
  places: FLAG,
  checks: oneOf('all', 'structure'),
  suppress: listOf(OBJECT),
  bestPractice: oneOf('off', 'information', 'warning', 'error'),
  refuse: listOf(oneOf('markup', 'examples')),
  level: oneOf('information', 'warning', 'error'),
})

/** What `validate` says. */
export interface ValidateResult {
  /** True when no finding is an error. */
  readonly valid: boolean
  /** In document order: what concerns a node comes before what concerns its members. */
  readonly findings: readonly Finding[]
}

const STEPS_BETWEEN_CHECKS = 256
const MAX_WALKS = 32

/**
 * Validates a resource against the definitions of FHIR, the profiles that it claims and those that the caller names. Nothing is stored.
 *
 * @throws {OperationError} `profile-not-found` for a profile of the input that is not to be found; `definition-required` when the
 *   context has no types; `parameter-required` when no resource is given.
 * @see https://hl7.org/fhir/R4/resource-operation-validate.html
 */
export async function validate(ctx: OperationContext, input: ValidateInput): Promise<ValidateResult> {
  checkInput(input, VALIDATE_INPUT)
  const source = await sourceOf(ctx, input)
  const asked = askedBy(ctx, input, source)
  const { places, suppressor, level } = asked
  const told = source.fault === undefined ? await findingsOf(ctx, source, asked) : [faultFinding(source.fault, places)]
  const findings = [...told, ...(suppressor?.expired() ?? [])]
  return {
    valid: findings.every((finding) => !isAtLeast('error', finding)),
    findings: findings.filter((finding) => isAtLeast(level, finding)),
  }
}

/** An input with all that it leaves open. */
interface Asked {
  readonly profiles: readonly string[]
  readonly places: PlaceFinder | undefined
  readonly checks: Checks
  readonly bestPractice: BestPractice
  readonly refuses: ReadonlySet<Refusal>
  readonly level: FindingLevel
  readonly suppressor: Suppressor | undefined
}

function askedBy(ctx: OperationContext, input: ValidateInput, source: JsonSource): Asked {
  const { checks = 'all', profiles = [] } = input
  return {
    profiles: checks === 'all' ? profiles : [],
    places: input.places === true && source.text !== '' ? placeFinder(source) : undefined,
    checks,
    ...policyOf(input, ctx.validation ?? {}),
    suppressor: suppressorOf(ctx, input),
  }
}

function policyOf(
  input: ValidationPolicy,
  { bestPractice = 'off', level = 'information', refuse = [] }: ValidationPolicy,
): Pick<Asked, 'bestPractice' | 'level' | 'refuses'> {
  return {
    bestPractice: input.bestPractice ?? bestPractice,
    level: input.level ?? level,
    refuses: new Set([...refuse, ...(input.refuse ?? [])]),
  }
}

function suppressorOf(ctx: OperationContext, { suppress = [] }: ValidateInput): Suppressor | undefined {
  const all = [...(ctx.validation?.suppress ?? []), ...suppress]
  return all.length === 0 ? undefined : createSuppressor(all, ctx.now())
}

const LEVELS: readonly Finding['severity'][] = ['information', 'warning', 'error', 'fatal']

function isAtLeast(level: FindingLevel, { severity }: Finding): boolean {
  return LEVELS.indexOf(severity) >= LEVELS.indexOf(level)
}

async function findingsOf(ctx: OperationContext, source: JsonSource, asked: Asked): Promise<readonly Finding[]> {
  const model = typesOf(ctx)
  const type = isObject(source.value) ? stringAt(source.value, 'resourceType') : undefined
  if (type === undefined) return [noResource(source, asked.places)]
  if (!isConcrete(model, type)) return [noSuchType(model, source, { type, places: asked.places })]
  const flawless = flawlessCheck({
    model,
    shapes: shapesOf(model, specificationOf(ctx)),
    numberText: source.numberText,
    now: ctx.now(),
  })
  if (asked.checks === 'structure' && source.slips.length === 0 && isFlawless(flawless, rootNode(model, source.value))) return []
  const facts = await createFacts(ctx, model)
  return walks(ctx, source, { ...asked, model, facts, flawless })
}

/** Walks until there is an answer to all that the walk asks. */
async function walks(ctx: OperationContext, source: JsonSource, parts: WalkParts): Promise<readonly Finding[]> {
  for (let count = 0; count < MAX_WALKS; count++) {
    const findings = await walk(ctx, source, parts)
    if (!(await parts.facts.settle())) return findings
  }
  throw new OperationError('too-costly', 'The definitions that the resource needs lead to ever more definitions.')
}

interface WalkParts extends Asked {
  readonly model: TypeModel
  readonly facts: Facts
  readonly flawless: FlawlessCheck
}

async function walk(ctx: OperationContext, source: JsonSource, { profiles, ...parts }: WalkParts): Promise<readonly Finding[]> {
  const pace = createPace(ctx)
  const tasks: Task[] = []
  const lastTasks: Task[] = []
  const run = runOf(ctx, source, { ...parts, pace, tasks, lastTasks })
  reportSlips(run, source.slips)
  visitNode(run, run.root, requestedRules(run, profiles))
  visitFirstEntry(run, profiles)
  for (const list of [tasks, lastTasks]) for (const task of list) await paced(task(), pace)
  return run.sink.findings()
}

/** Work that is left for later. */
type Task = () => Work<void>

function typesOf(ctx: OperationContext): TypeModel {
  if (ctx.types === undefined)
    throw new OperationError(
      'definition-required',
      'Validation needs the types of a FHIR release: those of r4() of @fhir-ops/r4, given to createContext.',
    )
  return ctx.types
}

interface RunParts extends Omit<WalkParts, 'profiles'> {
  readonly pace: Pace
  /** What is to be done when the walk so far is done. */
  readonly tasks: Task[]
  /** What is to be done when all of these are. */
  readonly lastTasks: Task[]
}

function runOf(
  ctx: OperationContext,
  source: JsonSource,
  { model, facts, flawless, checks, bestPractice, refuses, pace, tasks, lastTasks, ...sinkOptions }: RunParts,
): Run {
  const sink = createSink(ctx.limits.maxIssues, sinkOptions)
  let steps = 0
  return {
    model,
    facts,
    sink,
    root: rootNode(model, source.value),
    now: flawless.now,
    convertUnit: ctx.convertUnit ?? convertUnit,
    numberText: source.numberText,
    isStructural: true,
    checks,
    bestPractice,
    refuses,
    flawless,
    visit: visitNode,
    trials: new Map(),
    noted: new Set(),
    lists: new Map(),
    targets: { bundles: new Map(), contained: new Map(), anchors: new Map(), ids: new Map() },
    contexts: new Map(),
    later: (work) => void tasks.push(filling(sink.section(), work)),
    atEnd: (work) => void lastTasks.push(filling(sink.section(), work)),
    step: () => {
      if (++steps % STEPS_BETWEEN_CHECKS === 0) pace.check()
    },
  }
}

function filling(section: FindingSection, work: Task): Task {
  return () => section.fill(work)
}

async function sourceOf(ctx: OperationContext, { resource, places }: ValidateInput): Promise<JsonSource> {
  if (typeof resource === 'string') return paced(readJsonSource(resource, { positions: places === true }), createPace(ctx))
  if (isSource(resource)) return resource
  return { text: '', start: 0, value: resource, slips: [], numberText: () => undefined, positions: new Map() }
}

function isSource(resource: JsonSource | JsonObject): resource is JsonSource {
  return typeof resource['numberText'] === 'function'
}
