import { OperationError } from '../errors/index.js'
import { createTurns, type Turns } from './turns.js'

const STRETCH_MS = 8

/** Keeps long work polite: it ends when the caller has gone or time is up, and lets others run in between. */
export interface Pace {
  /** @throws {OperationError} `aborted` or `computation-timeout`. Cheap enough for every few hundred steps. */
  check(): void
  /** True when this stretch of synchronous work has lasted long enough: `await pause()` then. */
  due(): boolean
  /** Lets other work run, then checks. */
  pause(): Promise<void>
}

/** What a pace watches over. */
export interface PaceOptions {
  readonly signal?: AbortSignal | undefined
  /** On the clock of `performance.now()`. */
  readonly deadline?: number | undefined
  /** Shared by all operations of a process, so that their stretches do not follow each other without a gap. */
  readonly turns?: Turns | undefined
}

/** Makes the pace of one operation. */
export function createPace(options: PaceOptions): Pace {
  const turns = options.turns ?? createTurns()
  let stretchStart = performance.now()
  return {
    check: () => checkpoint(options),
    due: () => performance.now() - stretchStart > STRETCH_MS,
    async pause() {
      await turns.next()
      stretchStart = performance.now()
      checkpoint(options)
    },
  }
}

/** Ends an operation whose caller has gone or whose time is up. @throws {OperationError} `aborted`, `computation-timeout`. */
export function checkpoint({ signal, deadline }: PaceOptions): void {
  if (signal?.aborted) throw new OperationError('aborted', 'The request was cancelled.')
  if (deadline !== undefined && performance.now() > deadline) {
    throw new OperationError('computation-timeout', 'The operation took longer than its time limit.')
  }
}
