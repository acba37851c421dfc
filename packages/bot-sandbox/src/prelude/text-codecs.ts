import { defineGlobal } from './globals.js'

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
