import type { Origin, Run } from './case.js'
import { mark } from './cases.js'
import { answerTo, compared, type Comparison, type Difference } from './differences.js'
import type { Row } from './decisions.js'
import { without, type OriginFacts, type RunFacts } from './facts.js'
import { ourIssues, type Issue } from './issue.js'

/** What the comparison of many runs says. */
export interface Replay {
  runs: number
  verdicts: number
  errors: number
  warnings: number
  /** Number of runs that differ, by reason. */
  readonly reasons: Map<string, number>
  /** The decisions that were needed. */
  readonly decisions: Set<Row>
  /** Differences that nobody has decided: what, and where. */
  readonly undecided: Map<string, string[]>
  /** Cases that are not those of the facts any more. */
  readonly stale: string[]
}

export function newReplay(): Replay {
  return { runs: 0, verdicts: 0, errors: 0, warnings: 0, reasons: new Map(), decisions: new Set(), undecided: new Map(), stale: [] }
}

/** Compares our answers to an origin and its runs with the facts. */
export async function replayOrigin(replay: Replay, { name, base, runs }: Origin, facts: OriginFacts): Promise<void> {
  const ours = await ourIssues(base)
  if (mark(base) !== facts.mark) {
    replay.stale.push(name)
    return
  }
  const undamaged = { change: 'base', theirs: { all: facts.base, added: facts.base }, ours: { all: ours, added: ours } }
  count(replay, name, compared(undamaged))
  for (const [index, run] of runs.entries()) {
    const fact = facts.runs[index]
    const place = `${name} ${run.change} ${run.number}`
    if (fact === undefined || mark(run.asked) !== fact.mark) replay.stale.push(place)
    else count(replay, place, await comparedRun({ run, fact, theirs: facts.base, ours }))
  }
}

interface RunInput {
  readonly run: Run
  readonly fact: RunFacts
  readonly theirs: readonly Issue[]
  readonly ours: readonly Issue[]
}

async function comparedRun({ run, fact, theirs, ours }: RunInput): Promise<Comparison> {
  const all = await ourIssues(run.asked)
  return compared({ change: run.change, theirs: answerTo(theirs, fact), ours: { all, added: without(all, ours) } })
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
