import { createPace, type BestPractice, type FindingLevel, type OperationContext, type Pace, type Refusal } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { rootNode, type TypeModel } from '../fhirpath/index.js'
import { isObject, stringAt, type JsonSource } from '../json/index.js'
import { convertUnit } from '../ucum/index.js'
import { paced, type Breaks, type Work } from '../work/index.js'
import { createDefinitions, type Definitions } from './definitions/definitions.js'
import { baseTypesOf } from './definitions/kept-answers.js'
import { noResource, noSuchType, reportSlips } from './json-findings.js'
import { requestedRules, visitFirstEntry } from './rules/profile/applied-profiles.js'
import { isConcrete } from './rules/structure/resource-type.js'
import { createSink, type FindingSection, type Positions } from './run/finding-sink.js'
import type { Finding } from './run/finding.js'
import type { Checks, Run } from './run/run.js'
import type { Suppressor } from './suppressor.js'
import { flawlessCheck, isFlawless, shapesOf, type FlawlessCheck } from './walk/flawless.js'
import { visitNode } from './walk/visit-node.js'

/** An input with all that it leaves open. */
export interface Asked {
  readonly profiles: readonly string[]
  readonly places: Positions | undefined
  readonly checks: Checks
  readonly bestPractice: BestPractice
  readonly refuses: ReadonlySet<Refusal>
  readonly level: FindingLevel
  readonly suppressor: Suppressor | undefined
}

const STEPS_BETWEEN_CHECKS = 256
/** Nodes that are visited before others can have a turn. */
const STEPS_OF_A_STRETCH = 1_000
const MAX_WALKS = 32

/**
 * What a walk over the resource finds, in document order.
 *
 * @throws {OperationError} as `validate`; `too-costly` where definitions lead to ever more definitions.
 */
export async function findingsOf(ctx: OperationContext, source: JsonSource, asked: Asked): Promise<readonly Finding[]> {
  const model = typesOf(ctx)
  const type = isObject(source.value) ? stringAt(source.value, 'resourceType') : undefined
  if (type === undefined) return [noResource(source, asked.places)]
  if (!isConcrete(model, type)) return [noSuchType(model, source, { type, places: asked.places })]
  const flawless = flawlessCheck({
    model,
    shapes: shapesOf(model, baseTypesOf(ctx)),
    numberText: source.numberText,
    now: ctx.now(),
  })
  if (asked.checks === 'structure' && source.slips.length === 0 && isFlawless(flawless, rootNode(model, source.value))) return []
  const facts = await createDefinitions(ctx, model)
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
  readonly facts: Definitions
  readonly flawless: FlawlessCheck
}

async function walk(ctx: OperationContext, source: JsonSource, { profiles, ...parts }: WalkParts): Promise<readonly Finding[]> {
  const pace = createPace(ctx)
  const tasks: Task[] = []
  const lastTasks: Task[] = []
  const stretch = { steps: 0 }
  const run = runOf(ctx, source, { ...parts, pace, stretch, tasks, lastTasks })
  reportSlips(run, source.slips)
  visitNode(run, run.root, requestedRules(run, profiles))
  visitFirstEntry(run, profiles)
  for (const list of [tasks, lastTasks]) for (const task of list) await paced(task(), breaksOf(pace, stretch))
  return run.findings.findings()
}

/** What was done since others could last have a turn. */
interface Stretch {
  steps: number
}

function breaksOf(pace: Pace, stretch: Stretch): Breaks {
  return {
    due() {
      stretch.steps = 0
      return pace.due()
    },
    pause: () => pace.pause(),
  }
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
  readonly stretch: Stretch
  /** What is to be done when the walk so far is done. */
  readonly tasks: Task[]
  /** What is to be done when all of these are. */
  readonly lastTasks: Task[]
}

function runOf(
  ctx: OperationContext,
  source: JsonSource,
  { model, facts, flawless, checks, bestPractice, refuses, pace, stretch, tasks, lastTasks, ...sinkOptions }: RunParts,
): Run {
  const sink = createSink(ctx.limits.maxIssues, sinkOptions)
  return {
    model,
    definitions: facts,
    findings: sink,
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
      if (++stretch.steps % STEPS_BETWEEN_CHECKS === 0) pace.check()
    },
    isDue: () => stretch.steps > STEPS_OF_A_STRETCH,
  }
}

function filling(section: FindingSection, work: Task): Task {
  return () => section.fill(work)
}
