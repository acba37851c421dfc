/** Lets pieces of long work run one at a time, other work in between. */
export interface Turns {
  /** Resolves when it is this caller's turn. First come, first served. */
  next(): Promise<void>
}

/** Makes the turns of one process. */
export function createTurns(): Turns {
  const waiting: (() => void)[] = []
  // One timer for each turn: timers that are due together would run without a gap.
  const serve = (): void => {
    const resume = waiting.shift()
    if (waiting.length > 0) setTimeout(serve, 0)
    resume?.()
  }
  return {
    next: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        if (waiting.length === 1) setTimeout(serve, 0)
      }),
  }
}
