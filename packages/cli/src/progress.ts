import { styleText } from 'node:util'
import { type Io, counted } from './io.js'

/** The progress of a long task. */
interface ProgressState {
  /** The activity, such as `loading`. */
  readonly doing: string
  /** Number of completed items; absent if nothing is counted. */
  readonly done?: number
  /** What is counted, in the singular. */
  readonly thing?: string
  /** The task's own description of its progress, instead of a count. */
  readonly note?: string
  /** Fraction of the whole that is done, from 0 to 1, if known. */
  readonly share?: number | undefined
}

/** Shows the progress of a long task. */
export interface Progress {
  /** May be called at any time; too frequent calls are ignored. */
  readonly show: (state: ProgressState) => void
  /** Removes the bar. */
  readonly end: () => void
}

/** Shorter tasks show nothing. */
const FIRST_MS = 1_000
const DRAWN_MS = 100
/** Interval of lines in a log, where they stay. */
const WRITTEN_MS = 5_000
const WIDTH = 24
/** Fraction that must be done before the remaining time is estimated. */
const FORESEEN = 0.02

/** Creates a progress bar on a terminal; elsewhere, prints a line now and then. */
export function progressOn(io: Io): Progress {
  const now = io.now ?? (() => performance.now())
  const start = now()
  let next = start + FIRST_MS
  return {
    show(state) {
      const at = now()
      if (at < next) return
      next = at + (io.draw === undefined ? WRITTEN_MS : DRAWN_MS)
      const text = textOf(state, (at - start) / 1_000)
      if (io.draw === undefined) io.err(`… ${text}`)
      else io.draw(`${barOf(state.share, io)} ${text}`)
    },
    end: () => io.draw?.(''),
  }
}

/** Reports the progress of a task. */
export type ReportProgress = (state: Omit<ProgressState, 'doing'>) => void

/**
 * Runs a task and shows its progress: as the task reports it or, before its first report, on a terminal, how long it has been running. The bar is
 * removed at the end.
 */
export async function withProgress<T>(io: Io, doing: string, work: (report: ReportProgress) => Promise<T>): Promise<T> {
  const progress = progressOn(io)
  let state: ProgressState = { doing }
  const timer = io.draw === undefined ? undefined : setInterval(() => progress.show(state), DRAWN_MS)
  try {
    return await work((next) => {
      state = { doing, ...next }
      progress.show(state)
    })
  } finally {
    clearInterval(timer)
    progress.end()
  }
}

function textOf({ doing, done, thing = '', note, share = 0 }: ProgressState, seconds: number): string {
  if (note !== undefined) return `${doing}: ${note}`
  if (done === undefined) return `${doing}: ${counted(Math.floor(seconds), 'second')}`
  return [
    `${doing}: ${counted(done, thing)}`,
    ...(share === 0 ? [] : [`${Math.floor(share * 100)} %`]),
    `${Math.round(done / seconds)}/s`,
    ...(share < FORESEEN ? [] : [`about ${counted(Math.ceil(seconds * (1 / share - 1)), 'second')} left`]),
  ].join(', ')
}

/** Draws the bar, which is empty if the total is unknown. */
function barOf(share: number | undefined, { isColoured = false }: Io): string {
  const filled = Math.round((share ?? 0) * WIDTH)
  const [done, left] = ['━'.repeat(filled), '─'.repeat(WIDTH - filled)]
  return isColoured
    ? `${styleText('cyan', done, { validateStream: false })}${styleText('dim', left, { validateStream: false })}`
    : `${done}${left}`
}
