import { defineGlobal } from './globals.js'
import type { PreludeHost, SandboxApi } from './host.js'

interface Timer {
  readonly due: number
  readonly everyMs?: number
  readonly run: () => void
}

/** Installs a `performance` that counts from the beginning of the run; the host is asked for that when a run first looks. */
export function installClock({ elapsedMs }: Pick<PreludeHost, 'elapsedMs'>): void {
  const engineClock = performance
  const { now: today } = Date
  let start: number | undefined
  const now = (): number => {
    const moment = engineClock.now()
    start ??= moment - elapsedMs()
    return moment - start
  }
  let origin: number | undefined
  const timeOrigin = (): number => (origin ??= today() - now())
  defineGlobal('performance', Object.defineProperty({ now }, 'timeOrigin', { get: timeOrigin, enumerable: true, configurable: true }))
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
