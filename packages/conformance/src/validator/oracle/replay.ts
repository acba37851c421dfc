import type { Case, Origin, Run } from './case.js'
import { mark, type Planned } from './cases.js'
import { ROWS, type Reason, type Row, decisionOn, SAME_FAULT } from './decisions.js'
import { without, type OriginFacts, type RunFacts } from './facts.js'
import { ourIssues, type Issue } from './issue.js'

/** The result of the comparison of many runs. */
interface Replay {
  runs: number
  verdicts: number
  errors: number
  warnings: number
  /** Number of runs that differ, by reason. */
  readonly reasons: Map<string, number>
  /** The decisions that were needed. */
  readonly decisions: Set<Row>
  /** Differences without a decision: the difference, and its runs. */
  readonly undecided: Map<string, string[]>
  /** Cases that changed since the facts were recorded. */
  readonly stale: string[]
}

/** Our validation of cases, and the decisions on differences. */
interface Judge {
  readonly issuesOf: (asked: Case) => Promise<readonly Issue[]>
  readonly rows: readonly Row[]
}

const OF_RELEASE: Judge = { issuesOf: ourIssues, rows: ROWS }

/** Compares our answers to all origins and their runs with the facts. */
export async function replayed(
  planned: readonly Planned[],
  facts: ReadonlyMap<string, OriginFacts>,
  judge: Judge = OF_RELEASE,
): Promise<Replay> {
  const replay = newReplay()
  for (const { name, make } of planned) {
    const known = facts.get(name)
    if (known === undefined) replay.stale.push(name)
    else await replayOrigin(replay, { origin: await make(), facts: known }, judge)
  }
  return replay
}

function newReplay(): Replay {
  return { runs: 0, verdicts: 0, errors: 0, warnings: 0, reasons: new Map(), decisions: new Set(), undecided: new Map(), stale: [] }
}

async function replayOrigin(
  replay: Replay,
  { origin, facts }: { readonly origin: Origin; readonly facts: OriginFacts },
  judge: Judge,
): Promise<void> {
  const { name, base, runs } = origin
  const ours = await judge.issuesOf(base)
  if (mark(base) !== facts.mark) {
    replay.stale.push(name)
    return
  }
  const undamaged = { change: 'base', theirs: { all: facts.base, added: facts.base }, ours: { all: ours, added: ours } }
  count(replay, name, compared(undamaged, judge.rows))
  for (const [index, run] of runs.entries()) {
    const fact = facts.runs[index]
    const place = `${name} ${run.change} ${run.number}`
    if (fact === undefined || mark(run.asked) !== fact.mark) replay.stale.push(place)
    else count(replay, place, await comparedRun({ run, fact, theirs: facts.base, ours, judge }))
  }
}

interface RunInput {
  readonly run: Run
  readonly fact: RunFacts
  readonly theirs: readonly Issue[]
  readonly ours: readonly Issue[]
  readonly judge: Judge
}

async function comparedRun({ run, fact, theirs, ours, judge }: RunInput): Promise<Comparison> {
  const all = await judge.issuesOf(run.asked)
  return compared({ change: run.change, theirs: answerTo(theirs, fact), ours: { all, added: without(all, ours) } }, judge.rows)
}

function count(replay: Replay, place: string, { verdict, errors, warnings, differences }: Comparison): void {
  replay.runs++
  replay.verdicts += Number(verdict)
  replay.errors += Number(errors)
  replay.warnings += Number(warnings)
  for (const reason of new Set(differences.flatMap(({ reason: found }) => found ?? []))) {
    replay.reasons.set(reason, (replay.reasons.get(reason) ?? 0) + 1)
  }
  for (const { decision } of differences) if (decision !== undefined) replay.decisions.add(decision)
  for (const difference of differences.filter(({ reason }) => reason === undefined)) note(replay, place, difference)
}

function note({ undecided }: Replay, place: string, { side, issue, change }: Difference): void {
  const key = `${side} ${issue.severity} ${issue.rule} (${change})`
  undecided.set(key, [...(undecided.get(key) ?? []), `${place} at ${issue.place}`])
}

/** The tables of the page on conformance. */
export function tablesOf({ runs, verdicts, errors, warnings, reasons }: Replay, all: readonly Reason[]): string {
  const share = (count: number): string => `${count} (${((100 * count) / Math.max(1, runs)).toFixed(1)} %)`
  const rows = all.map(({ name, right, why }) => `| ${name} | ${reasons.get(name) ?? 0} | ${right} | ${why} |\n`)
  return `| runs | same verdict | errors at the same places | warnings too |\n|---|---|---|---|\n| ${runs} | ${share(verdicts)} | ${share(errors)} | ${share(warnings)} |\n\n| difference | runs | right | why |\n|---|---|---|---|\n${rows.join('')}`
}

/** An issue that only one of the validators reports. */
interface Difference {
  readonly side: 'ours' | 'theirs'
  readonly issue: Issue
  readonly change: string
  /** Name of a reason in the decisions; `undefined` while nobody has decided. */
  readonly reason: string | undefined
  /** The row of the decisions with this reason; absent for consequences of a fault that both have found. */
  readonly decision: Row | undefined
}

/** The agreement of two answers to one case. */
interface Comparison {
  /** Both say valid, or both say invalid. */
  readonly verdict: boolean
  /** Errors at the same places. */
  readonly errors: boolean
  /** Warnings at the same places, or at places where the other has errors. */
  readonly warnings: boolean
  readonly differences: readonly Difference[]
}

/** Both answers to a changed case: all issues, and those that the original case does not have. */
interface Answers {
  readonly change: string
  readonly theirs: Answer
  readonly ours: Answer
}

interface Answer {
  readonly all: readonly Issue[]
  readonly added: readonly Issue[]
}

/** The answer of a validator to a change, from the added and removed issues. */
function answerTo(base: readonly Issue[], { added, removed }: Pick<RunFacts, 'added' | 'removed'>): Answer {
  return { all: [...without(base, removed), ...added], added }
}

/** Compares the issues that the undamaged resource does not have. */
function compared({ change, theirs, ours }: Answers, rows: readonly Row[]): Comparison {
  const pairs = [
    { side: 'theirs', mine: theirs, other: ours },
    { side: 'ours', mine: ours, other: theirs },
  ] as const
  const differences = pairs.flatMap(({ side, mine, other }) =>
    missing(mine, other).map((issue) => decided({ difference: { side, issue, change }, other, rows })),
  )
  const isAgreed = (severity: Issue['severity']): boolean => differences.every(({ issue }) => issue.severity !== severity)
  return { verdict: isInvalid(theirs) === isInvalid(ours), errors: isAgreed('error'), warnings: isAgreed('warning'), differences }
}

function isInvalid({ all }: Answer): boolean {
  return all.some(({ severity }) => severity === 'error')
}

/** Errors and warnings of one answer at places where the other has none of at least the same severity. */
function missing(mine: Answer, other: Answer): readonly Issue[] {
  const errors = new Set(other.all.filter(({ severity }) => severity === 'error').map(({ place }) => place))
  const warnings = new Set(other.all.filter(({ severity }) => severity === 'warning').map(({ place }) => place))
  return mine.added.filter(
    ({ severity, place }) => severity !== 'information' && !errors.has(place) && (severity === 'error' || !warnings.has(place)),
  )
}

interface Undecided {
  readonly difference: Omit<Difference, 'reason' | 'decision'>
  readonly other: Answer
  readonly rows: readonly Row[]
}

function decided({ difference, other, rows }: Undecided): Difference {
  const decision = decisionOn(difference, rows)
  const reason = decision?.reason ?? (isOfSameFault(difference.issue, other) ? SAME_FAULT : undefined)
  return { ...difference, decision, reason }
}

/** True if the other has found the fault at a containing or contained element. The resource itself contains everything, so it does not count. */
function isOfSameFault({ place }: Issue, { added }: Answer): boolean {
  return added.some(({ severity, place: known }) => severity === 'error' && (isAround(known, place) || isAround(place, known)))
}

function isAround(outer: string, inner: string): boolean {
  return outer.includes('.') && inner.startsWith(outer) && /^[.[]/.test(inner.slice(outer.length))
}
