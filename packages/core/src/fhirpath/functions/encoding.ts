import { evaluationProblem } from '../problem.js'
import { textArgument, textFunction, type FunctionDefinition } from './definition.js'

/** Functions that encode or escape text. @see https://hl7.org/fhirpath/#additional-string-functions */
export const ENCODING_FUNCTIONS: readonly FunctionDefinition[] = [
  coding(
    'encode',
    new Map([
      ['hex', toHex],
      ['base64', toBase64],
      ['urlbase64', toUrlBase64],
    ]),
  ),
  coding(
    'decode',
    new Map([
      ['hex', fromHex],
      ['base64', fromBase64],
      ['urlbase64', fromBase64],
    ]),
  ),
  coding(
    'escape',
    new Map([
      ['html', escapeHtml],
      ['json', escapeJson],
    ]),
  ),
  coding(
    'unescape',
    new Map([
      ['html', unescapeHtml],
      ['json', unescapeJson],
    ]),
  ),
]

function coding(name: string, formats: ReadonlyMap<string, (text: string) => string | undefined>): FunctionDefinition {
  return textFunction(name, [1, 1], (text, [format]) => {
    const wanted = textArgument(name, format)
    if (wanted === undefined) return undefined
    const apply = formats.get(wanted)
    if (apply === undefined) throw evaluationProblem(`${name}() does not know the format '${wanted.slice(0, 60)}'`)
    return apply(text)
  })
}

function toHex(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function fromHex(text: string): string | undefined {
  if (text.length % 2 !== 0 || !/^[0-9A-Fa-f]*$/.test(text)) return undefined
  return textOfBytes(Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)))
}

function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
}

function toUrlBase64(text: string): string {
  return toBase64(text).replaceAll('+', '-').replaceAll('/', '_')
}

function fromBase64(text: string): string | undefined {
  const plain = text.replaceAll('-', '+').replaceAll('_', '/')
  const digits = /^([A-Za-z0-9+/]*)={0,2}$/.exec(plain)?.[1]
  if (digits === undefined || digits.length % 4 === 1) return undefined
  const padded = digits.padEnd(Math.ceil(digits.length / 4) * 4, '=')
  return textOfBytes(Uint8Array.from(atob(padded), (char) => char.charCodeAt(0)))
}

function textOfBytes(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

const HTML: readonly (readonly [char: string, entity: string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]

function escapeHtml(text: string): string {
  return HTML.reduce((escaped, [char, entity]) => escaped.replaceAll(char, entity), text)
}

function unescapeHtml(text: string): string {
  return HTML.toReversed().reduce((plain, [char, entity]) => plain.replaceAll(entity, char), text)
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

const JSON_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['f', '\f'],
  ['b', '\b'],
])

function unescapeJson(text: string): string {
  return text.replaceAll(/\\(?:u([0-9A-Fa-f]{4})|(.))/g, (_, hex: string | undefined, char: string | undefined) =>
    hex === undefined ? (JSON_ESCAPES.get(char ?? '') ?? char ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
