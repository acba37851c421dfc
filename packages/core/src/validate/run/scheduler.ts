import type { Pace } from '../../context/index.js'
import type { Work } from '../../work/index.js'
import type { FindingSink } from './finding.js'

/** Schedules the work of a walk. A resource may have thousands of elements, so other requests run in between. */
export interface Scheduler {
  /** Runs the task after the current part of the walk. Its findings appear at the position where it was scheduled. */
  readonly later: (task: Task) => void
  /** Like `later`, after the whole walk. */
  readonly atEnd: (task: Task) => void
  /** Counts a step; throws when the time limit is exceeded. */
  readonly step: () => void
  /** Counts the steps of an expression, a hundred of which take as long as a step of the walk. */
  readonly evaluated: (steps: number) => void
  /** Lets other requests run when it is their turn, and counts steps from 0 again. */
  readonly turn: () => Promise<void> | undefined
  /** Runs work to its end, with other requests in between. */
  readonly run: <T>(work: Work<T>) => Promise<T>
  /** True when so many steps ran in one go that further work is left for later. Steps are counted, not time, so that findings do not depend on time. */
  readonly isDue: () => boolean
}

/** Scheduled work. A task that takes long yields or awaits `turn`. */
export type Task = () => Work<void> | Promise<void> | void

/** The scheduler of one walk. */
interface WalkScheduler {
  readonly scheduler: Scheduler
  /** Runs all scheduled tasks, and those that they schedule. Returns a promise only if they do not complete synchronously. */
  readonly finish: () => Promise<void> | undefined
}

const STEPS_BETWEEN_CHECKS = 256
const STEPS_OF_EXPRESSION = 100
/** Nodes that are visited before other requests can run. */
const STEPS_IN_ONE_GO = 1_000

/** Runs a task. Returns a promise only if it does not complete synchronously. */
type PlacedTask = () => Promise<void> | undefined

/** Creates the scheduler of one walk. */
export function createWalkScheduler(pace: Pace, findings: FindingSink): WalkScheduler {
  const tasks: PlacedTask[] = []
  const lastTasks: PlacedTask[] = []
  let steps = 0
  let nextCheck = STEPS_BETWEEN_CHECKS
  const turn = (): Promise<void> | undefined => {
    steps = 0
    nextCheck = STEPS_BETWEEN_CHECKS
    return pace.step()
  }
  const run = async <T>(work: Work<T>): Promise<T> => {
    for (;;) {
      const next = work.next()
      if (next.done === true) return next.value
      const wait = turn()
      if (wait !== undefined) await wait
    }
  }
  const step = (): void => {
    if (++steps < nextCheck) return
    nextCheck = steps + STEPS_BETWEEN_CHECKS
    pace.check()
  }
  const evaluated = (of: number): void => {
    if (of >= STEPS_OF_EXPRESSION) steps += Math.floor(of / STEPS_OF_EXPRESSION)
  }
  const done = (task: Task): Promise<void> | undefined => {
    const work = task()
    return work === undefined ? turn() : ('next' in work ? run(work) : work).then(turn)
  }
  let begun = 0
  let begunLast = 0
  const next = (): PlacedTask | undefined => (begun < tasks.length ? tasks[begun++] : lastTasks[begunLast++])
  const into =
    (list: PlacedTask[]) =>
    (task: Task): void => {
      const section = findings.section()
      list.push(() => section.fill(() => done(task)))
    }
  return {
    scheduler: {
      later: into(tasks),
      atEnd: into(lastTasks),
      step,
      evaluated,
      turn,
      run,
      isDue: () => steps > STEPS_IN_ONE_GO,
    },
    finish: () => {
      for (let task = next(); task !== undefined; task = next()) {
        const rest = task()
        if (rest !== undefined) return finishAfter(rest, next)
      }
      return undefined
    },
  }
}

async function finishAfter(rest: Promise<void>, next: () => PlacedTask | undefined): Promise<void> {
  await rest
  for (let task = next(); task !== undefined; task = next()) {
    const more = task()
    if (more !== undefined) await more
  }
}
