import { styleText } from 'node:util'
import type { Io } from './io.js'
import { counted } from './text.js'

/** How far a long piece of work is. */
export interface ProgressState {
  /** What is being done, such as `loading`. */
  readonly doing: string
  /** Absent where nothing is counted. */
  readonly done?: number
  /** What is counted, in the singular. */
  readonly thing?: string
  /** What the work itself says of how far it is, instead of a count. */
  readonly note?: string
  /** How much of the whole is done, from 0 to 1, where that is known. */
  readonly share?: number | undefined
}

/** Shows how far a long piece of work is. */
export interface Progress {
  /** May be called at any time: what comes too often is ignored. */
  readonly show: (state: ProgressState) => void
  /** Removes the bar. */
  readonly end: () => void
}

/** What takes less shows nothing. */
const FIRST_MS = 1_000
const DRAWN_MS = 100
/** Where lines stay, as in a log. */
const WRITTEN_MS = 5_000
const WIDTH = 24
/** How much must be done before it says how long the rest takes. */
const FORESEEN = 0.02

/** On a terminal a progress bar; elsewhere a line now and then. */
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

/** Reports how far a piece of work is. */
export type ReportProgress = (state: Omit<ProgressState, 'doing'>) => void

/**
 * Does a piece of work, and shows how far it is: what it says itself, and before that, on a terminal, for how long it has been running. The bar is
 * removed at its end.
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

/** Where the whole is not known, the bar is empty. */
function barOf(share: number | undefined, { isColoured = false }: Io): string {
  const filled = Math.round((share ?? 0) * WIDTH)
  const [done, left] = ['━'.repeat(filled), '─'.repeat(WIDTH - filled)]
  return isColoured
    ? `${styleText('cyan', done, { validateStream: false })}${styleText('dim', left, { validateStream: false })}`
    : `${done}${left}`
}
