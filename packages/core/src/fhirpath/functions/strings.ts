import { codeOfItems, codeOfTruth, spend, type Code, type Scope } from '../code.js'
import { compileRegex, replaceAll, type LinearRegex } from '../../regex/index.js'
import { NOTHING, type Items } from '../item.js'
import { integerArgument, itemsFunction, textArgument, textFunction, type Call, type FunctionDefinition } from './definition.js'
import { evaluationProblem } from '../problem.js'

/** Functions on text. @see https://hl7.org/fhirpath/N1/#string-manipulation */
export const STRING_FUNCTIONS: readonly FunctionDefinition[] = [
  textFunction('indexOf', [1, 1], (text, [part]) => withText('indexOf', part, (found) => text.indexOf(found))),
  textFunction('lastIndexOf', [1, 1], (text, [part]) => withText('lastIndexOf', part, (found) => text.lastIndexOf(found))),
  textFunction('startsWith', [1, 1], (text, [part]) => withText('startsWith', part, (found) => text.startsWith(found))),
  textFunction('endsWith', [1, 1], (text, [part]) => withText('endsWith', part, (found) => text.endsWith(found))),
  textFunction('contains', [1, 1], (text, [part]) => withText('contains', part, (found) => text.includes(found))),
  textFunction('substring', [1, 2], (text, [start, length]) => substring(text, start, length)),
  textFunction('upper', [0, 0], (text) => text.toUpperCase()),
  textFunction('lower', [0, 0], (text) => text.toLowerCase()),
  textFunction('trim', [0, 0], (text) => text.trim()),
  textFunction('length', [0, 0], (text) => text.length),
  textFunction('replace', [2, 2], (text, [pattern, by], { run }) =>
    withText('replace', pattern, (found) =>
      withText('replace', by, (replacement) => {
        spend(run, (text.length * (replacement.length + 1)) >> 3)
        return text.replaceAll(found, () => replacement)
      }),
    ),
  ),
  itemsFunction('toChars', [0, 0], (input) => Array.from(textArgument('toChars', input) ?? '')),
  itemsFunction('split', [1, 1], (input, [separator]) => {
    const text = textArgument('split', input)
    const by = textArgument('split', separator)
    return text === undefined || by === undefined ? NOTHING : text.split(by)
  }),
  itemsFunction('join', [0, 1], (input, [separator], { run }) => {
    if (input.length === 0) return NOTHING
    const texts = input.map((item) => textArgument('join', [item]) ?? '')
    const joined = texts.join(textArgument('join', separator) ?? '')
    spend(run, joined.length >> 3)
    return [joined]
  }),
  { name: 'matches', arity: [1, 1], compile: (call) => matching(call, (regex, text) => regex.test(text)) },
  { name: 'matchesFull', arity: [1, 1], compile: (call) => matching(call, (regex, text) => regex.matchesWhole(text)) },
  { name: 'replaceMatches', arity: [2, 2], compile: replaceMatches },
]

/** Returns the steps for one match of a pattern: a thousand steps of the automaton count as one. */
function costOf(regex: LinearRegex, text: string): number {
  return (text.length * regex.states) >> 10
}

function withText<T>(name: string, argument: Items | undefined, apply: (text: string) => T): T | undefined {
  const text = textArgument(name, argument)
  return text === undefined ? undefined : apply(text)
}

function substring(text: string, startItems: Items | undefined, lengthItems: Items | undefined): string | undefined {
  const start = integerArgument('substring', startItems)
  const length = integerArgument('substring', lengthItems)
  if (start === undefined || start < 0 || start >= text.length) return undefined
  return length === undefined ? text.slice(start) : text.slice(start, start + Math.max(0, length))
}

function matching({ input, args: [pattern] }: Call, test: (regex: LinearRegex, text: string) => boolean): Code {
  const regexOf = patternOf(pattern)
  return codeOfTruth((scope) => {
    const text = textArgument('matches', input.items(scope))
    const regex = regexOf(scope)
    if (text === undefined || regex === undefined) return undefined
    spend(scope.run, costOf(regex, text))
    return test(regex, text)
  })
}

function replaceMatches({ input, args: [pattern, substitution] }: Call): Code {
  const regexOf = patternOf(pattern)
  return codeOfItems((scope) => {
    const text = textArgument('replaceMatches', input.items(scope))
    const regex = regexOf(scope)
    const by = textArgument('replaceMatches', substitution?.items(scope))
    if (text === undefined || regex === undefined || by === undefined) return NOTHING
    spend(scope.run, costOf(regex, text) + ((text.length * (by.length + 1)) >> 3))
    return [regex.pattern === '' ? text : replaceAll(regex, text, by)]
  })
}

/**
 * Returns the regular expression of an argument; `undefined` when the argument is empty. Compiled again only when its text changes.
 * In FHIRPath, a dot also matches line ends.
 */
function patternOf(argument: Code | undefined): (scope: Scope) => LinearRegex | undefined {
  let last: { readonly text: string; readonly regex: LinearRegex } | undefined
  return (scope) => {
    const text = textArgument('matches', argument?.items(scope))
    if (text === undefined) return undefined
    if (last?.text !== text) last = { text, regex: compileRegex(text, { dotAll: true }) }
    return last.regex
  }
}

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
