import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeUtf8, decodingUtf8, utf8Length } from './index.js'

const JSON_TEXT = '{"resourceType":"Patient"}'

/** The text in two bytes for each of its characters, or four. */
function wide(text: string, size: 2 | 4, isLittle: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * size))
  for (const [index, character] of Array.from(text).entries()) {
    const code = character.codePointAt(0) ?? 0
    if (size === 2) view.setUint16(index * size, code, isLittle)
    else view.setUint32(index * size, code, isLittle)
  }
  return new Uint8Array(view.buffer)
}

const inBytes = (...parts: readonly (string | number)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...new TextEncoder().encode(part)])))

describe('decodeUtf8', () => {
  test.each<[string, Uint8Array, string]>([
    ['a text', inBytes('Ångström 🌍'), 'Ångström 🌍'],
    ['a byte order mark, which is left out', inBytes('\u{FEFF}x'), 'x'],
    ['nothing', inBytes(), ''],
    ['one character', inBytes('{'), '{'],
    ['a replacement character that was written', inBytes('a\u{FFFD}b'), 'a\u{FFFD}b'],
    ['a NUL that is alone', inBytes('{\0}'), '{\0}'],
  ])('reads %s', (_, bytes, text) => {
    expect(decodeUtf8(bytes)).toBe(text)
  })

  test.each<[string, Uint8Array, string]>([
    ['UTF-16 of Windows, with its mark', wide(`\u{FEFF}${JSON_TEXT}`, 2, true), 'UTF-16'],
    ['UTF-16 with a mark, of a text of another script', wide('\u{FEFF}\u{4E2D}', 2, true), 'UTF-16'],
    ['big-endian UTF-16 with its mark', wide(`\u{FEFF}${JSON_TEXT}`, 2, false), 'UTF-16'],
    ['UTF-16 without a mark', wide(JSON_TEXT, 2, true), 'UTF-16'],
    ['big-endian UTF-16 without a mark', wide(JSON_TEXT, 2, false), 'UTF-16'],
    ['UTF-32 with its mark', wide(`\u{FEFF}${JSON_TEXT}`, 4, true), 'UTF-32'],
    ['big-endian UTF-32 with its mark', wide(`\u{FEFF}${JSON_TEXT}`, 4, false), 'UTF-32'],
    ['UTF-32 without a mark', wide(JSON_TEXT, 4, true), 'UTF-32'],
    ['big-endian UTF-32 without a mark', wide(JSON_TEXT, 4, false), 'UTF-32'],
  ])('names %s', (_, bytes, encoding) => {
    expect(() => decodeUtf8(bytes)).toThrow(
      expect.objectContaining({ code: 'body-invalid', message: `The body is in ${encoding}; UTF-8 is expected.` }),
    )
  })

  test('names gzip', () => {
    const message = 'The body is compressed with gzip; text in UTF-8 is expected.'
    expect(() => decodeUtf8(inBytes(0x1f, 0x8b, 8, 0))).toThrow(expect.objectContaining({ code: 'body-invalid', message }))
  })

  test.each<[string, Uint8Array, number]>([
    ['Windows-1252', inBytes('{\n"family": "M', 0xfc, 'ller"\n}'), 2],
    ['a character that is cut off', inBytes('\n\n', 0xe4, 0xb8), 3],
    ['a surrogate', inBytes(0xed, 0xa0, 0x80), 1],
    ['another byte after a replacement character that was written', inBytes('\u{FFFD}\n', 0xfc), 2],
    ['another byte after a byte order mark', inBytes('\u{FEFF}\n', 0xfc), 2],
  ])('says in which line %s is seen', (_, bytes, line) => {
    expect(() => decodeUtf8(bytes, 'a.json')).toThrow(
      expect.objectContaining({ code: 'body-invalid', message: `a.json is not UTF-8: line ${line} has a byte of another encoding.` }),
    )
  })
})

describe('decodingUtf8', () => {
  /** What is read of bytes that come in pieces of a length. */
  async function read(bytes: Uint8Array, length: number): Promise<string> {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
    }
    let text = ''
    for await (const part of decodingUtf8(pieces(), 'a.ndjson')) text += part
    return text
  }

  test.each([1, 2, 3, 5, 100])('reads characters across pieces of %i bytes, without the byte order mark', async (length) => {
    expect(await read(inBytes('\u{FEFF}Ångström\n🌍\n\u{FFFD}中'), length)).toBe('Ångström\n🌍\n\u{FFFD}中')
  })

  test.each<[string, Uint8Array]>([
    ['goes on with another one', inBytes('a\n', 0xc3, 'x\n\n\n')],
    ['goes on after a line feed', inBytes('a\nbc', 0xe4, 0xb8, '\nx\n')],
    ['is none', inBytes('a\nå', 0xe4, 0x80, 'é\n\n')],
    ['is too long', inBytes('a\n', 0xf8, 0x80, 0x80, 0x80, 0x80, '\n\n')],
  ])('names the line where a character %s, wherever the pieces end', async (_, bytes) => {
    const message = 'a.ndjson is not UTF-8: line 2 has a byte of another encoding.'
    for (let length = 1; length <= bytes.length; length++) await expect(read(bytes, length)).rejects.toThrow(message)
  })

  test.each([1, 2, 3, 5, 100])('names the line, over pieces of %i bytes', async (length) => {
    const refused = expect.objectContaining({
      code: 'body-invalid',
      message: 'a.ndjson is not UTF-8: line 3 has a byte of another encoding.',
    })
    await expect(read(inBytes('中\nÅ\n🌍', 0xfc, 'x\n\n'), length)).rejects.toEqual(refused)
    await expect(read(inBytes('中\nÅ\n🌍', 0xe4, 0xb8), length)).rejects.toEqual(refused)
  })

  test('names UTF-16', async () => {
    await expect(read(wide(`\u{FEFF}${JSON_TEXT}`, 2, true), 64)).rejects.toThrow('a.ndjson is in UTF-16; UTF-8 is expected.')
  })
})

test('the length of a text is that of its encoding, also where halves of surrogate pairs stand alone', () => {
  const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff })))
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes)
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
    }),
    { seed: 1 },
  )
})

test('utf8Length counts the bytes of long texts, wherever pairs of surrogates and halves of them are', () => {
  for (const around of [500, 16_384, 2 * 16_384 - 1]) {
    for (const end of ['', '\u{1F30D}', '\uD83C', '\uDF0D', '\uD83C\uD83C\uDF0D', 'é\u{4E2D}']) {
      for (let length = around - 4; length < around + 4; length++) {
        const text = `${'x'.repeat(length)}${end}${'ü'.repeat(length % 3)}`
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
      }
    }
  }
})
