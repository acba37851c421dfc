import type { PreludeHost } from './host.js'

/** Defines a global that a bot may replace, as it may all others. */
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
 * Installs a `Math.random` whose numbers follow from four words of 32 bits, for which the host is asked when a run first takes one (sfc32). That of the engine has a
 * state that is set back with the realm: every run would get the same numbers.
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
