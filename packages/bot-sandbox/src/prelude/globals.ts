import type { PreludeHost, SandboxApi } from './host.js'

/** Defines a global, which a bot may replace like any other. */
export function defineGlobal(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true })
}

/** Installs `TextEncoder` and `TextDecoder` for UTF-8. */
export function installTextCodecs(): void {
  defineGlobal('TextEncoder', Encoder)
  defineGlobal('TextDecoder', Decoder)
}

class Encoder {
  readonly encoding: string = 'utf-8'
  encode(text: unknown = ''): Uint8Array {
    const bytes: number[] = []
    for (const char of String(text).toWellFormed()) bytes.push(...encodeChar(char.codePointAt(0) ?? 0))
    return Uint8Array.from(bytes)
  }
}

class Decoder {
  readonly encoding: string = 'utf-8'
  decode(bytes: Uint8Array = new Uint8Array()): string {
    const escaped = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    try {
      return decodeURIComponent(escaped)
    } catch {
      throw new TypeError('The bytes are not UTF-8.')
    }
  }
}

function encodeChar(code: number): readonly number[] {
  if (code < 0x80) return [code]
  const tail = (shift: number) => 0x80 | ((code >> shift) & 0x3f)
  if (code < 0x800) return [0xc0 | (code >> 6), tail(0)]
  if (code < 0x10000) return [0xe0 | (code >> 12), tail(6), tail(0)]
  return [0xf0 | (code >> 18), tail(12), tail(6), tail(0)]
}

/**
 * Installs a `Math.random` (sfc32) with a seed of four 32-bit words, which it requests from the host at the first call in a run. The state of the engine's
 * own `Math.random` is restored with the realm, so every run would get the same numbers.
 */
export function installRandom({ randomWord }: Pick<PreludeHost, 'randomWord'>): void {
  let [a, b, c, count] = [0, 0, 0, 0]
  let isSeeded = false
  const next = (): number => {
    const sum = (a + b + count) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    count = (count + 1) | 0
    return sum >>> 0
  }
  const seed = (): void => {
    isSeeded = true
    a = randomWord()
    b = randomWord()
    c = randomWord()
    count = randomWord()
    for (let i = 0; i < 12; i++) next()
  }
  const value = (): number => {
    if (!isSeeded) seed()
    return (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53
  }
  Object.defineProperty(Math, 'random', { value, writable: true, configurable: true })
}

interface Timer {
  readonly due: number
  readonly everyMs?: number
  readonly run: () => void
}

/** Installs a `performance` that counts from the beginning of the run, which it requests from the host at the first call in a run. */
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

/** Installs timers on a virtual clock, which jumps to the next timer when nothing else is left to do, so that no bot waits. */
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
