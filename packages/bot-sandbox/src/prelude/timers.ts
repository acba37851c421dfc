import { defineGlobal } from './globals.js'
import type { SandboxApi } from './host.js'

interface Timer {
  readonly due: number
  readonly everyMs?: number
  readonly run: () => void
}

/** Installs a `performance` that counts from the beginning of the run; the function begins it. */
export function installClock(): () => void {
  const engineClock = performance
  const elapsed = (): number => engineClock.now()
  let start = 0
  const clock = { timeOrigin: 0, now: () => elapsed() - start }
  defineGlobal('performance', clock)
  return () => {
    start = elapsed()
    clock.timeOrigin = Date.now()
  }
}

/** Installs timers on a clock of their own: it jumps to the next timer when nothing else is left to do, so that no bot waits. */
export function installTimers(): SandboxApi['nextTimer'] {
  const timers = new Map<number, Timer>()
  let now = 0
  let last = 0
  const add = (delay: unknown, timer: Pick<Timer, 'run'> & { readonly repeats: boolean }) => {
    const ms = Math.max(1, Number(delay) || 0)
    last += 1
    timers.set(last, { due: now + ms, run: timer.run, ...(timer.repeats && { everyMs: ms }) })
    return last
  }
  const starter =
    (repeats: boolean) =>
    (callback: (...args: unknown[]) => void, delay: unknown, ...args: unknown[]) =>
      add(delay, { repeats, run: () => callback(...args) })
  const clear = (id: number) => void timers.delete(id)
  defineGlobal('setTimeout', starter(false))
  defineGlobal('setInterval', starter(true))
  defineGlobal('clearTimeout', clear)
  defineGlobal('clearInterval', clear)
  return (limitMs) => {
    const [first, ...others] = timers
    if (first === undefined) return 'none'
    const [id, timer] = others.reduce((best, one) => (one[1].due < best[1].due ? one : best), first)
    if (timer.due > limitMs) return 'late'
    now = timer.due
    if (timer.everyMs === undefined) timers.delete(id)
    else timers.set(id, { ...timer, due: now + timer.everyMs })
    timer.run()
    return 'ran'
  }
}
