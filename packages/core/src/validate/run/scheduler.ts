import type { Pace } from '../../context/index.js'
import type { Work } from '../../work/index.js'
import type { FindingSink } from './finding-sink.js'

/** When work is done: a resource may have thousands of elements, and other requests run in between. */
export interface Scheduler {
  /** Does the task when the walk so far is done; its findings are placed where it was scheduled. */
  readonly later: (task: Task) => void
  /** The same, when the whole walk is done. */
  readonly atEnd: (task: Task) => void
  /** Counts a step; ends the walk when time is up. */
  readonly step: () => void
  /** Counts a step, and lets other requests run when it is their turn. */
  readonly turn: () => Promise<void> | undefined
  /** Does the work of a leaf, other requests in between. */
  readonly run: <T>(work: Work<T>) => Promise<T>
  /** True when so much was done in one go that what comes is left for later. By number, so that findings do not depend on time. */
  readonly isDue: () => boolean
}

/** Work that is scheduled. One that takes long yields or awaits `turn`. */
export type Task = () => Work<void> | Promise<void> | void

/** The scheduler of one walk. */
export interface WalkScheduler {
  readonly scheduler: Scheduler
  /** Does what was scheduled, and what that schedules. A promise only where it is not done at once. */
  readonly finish: () => Promise<void> | undefined
}

const STEPS_BETWEEN_CHECKS = 256
/** Nodes that are visited before other requests can run. */
const STEPS_IN_ONE_GO = 1_000

/** Does a task; a promise only where it is not done at once. */
type PlacedTask = () => Promise<void> | undefined

/** Schedules the work of one walk. */
export function createScheduler(pace: Pace, findings: FindingSink): WalkScheduler {
  const tasks: PlacedTask[] = []
  const lastTasks: PlacedTask[] = []
  let steps = 0
  const turn = (): Promise<void> | undefined => {
    steps = 0
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
    if (++steps % STEPS_BETWEEN_CHECKS === 0) pace.check()
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
