import { codeOfItems, codeOfTruth, spend, spendReading, spendWriting, type Code, type Run, type Scope } from '../code.js'
import { compileRegex, replaceAll, type LinearRegex, type SpendSteps } from '../../regex/index.js'
import { NOTHING, type Items, type SystemValue } from '../item.js'
import { integerArgument, itemsFunction, textArgument, textFunction, type Call, type FunctionDefinition } from './definition.js'
import { evaluationProblem } from '../problem.js'

/** Functions on text. @see https://hl7.org/fhirpath/N1/#string-manipulation */
export const STRING_FUNCTIONS: readonly FunctionDefinition[] = [
  seeking('indexOf', (text, part) => text.indexOf(part)),
  seeking('lastIndexOf', (text, part) => text.lastIndexOf(part)),
  textFunction('startsWith', [1, 1], (text, [part]) => withText('startsWith', part, (found) => text.startsWith(found))),
  textFunction('endsWith', [1, 1], (text, [part]) => withText('endsWith', part, (found) => text.endsWith(found))),
  seeking('contains', (text, part) => text.includes(part)),
  textFunction('substring', [1, 2], (text, [start, length]) => substring(text, start, length)),
  textFunction('upper', [0, 0], (text) => text.toUpperCase()),
  textFunction('lower', [0, 0], (text) => text.toLowerCase()),
  textFunction('trim', [0, 0], (text) => text.trim()),
  textFunction('length', [0, 0], (text) => text.length),
  textFunction('replace', [2, 2], (text, [pattern, by], { run }) =>
    withText('replace', pattern, (found) =>
      withText('replace', by, (replacement) => {
        spendSeeking(run, text, found)
        spendWriting(run, text.length * (replacement.length + 1))
        return text.replaceAll(found, () => replacement)
      }),
    ),
  ),
  itemsFunction('toChars', [0, 0], (input, _, { run }) => {
    const text = textArgument('toChars', input) ?? ''
    spend(run, text.length)
    return Array.from(text)
  }),
  itemsFunction('split', [1, 1], (input, [separator], { run }) => {
    const text = textArgument('split', input)
    const by = textArgument('split', separator)
    if (text === undefined || by === undefined) return NOTHING
    spendSeeking(run, text, by)
    const parts = text.split(by, Math.min(run.budget.steps - run.steps + 1, MOST_PARTS))
    spend(run, parts.length)
    return parts
  }),
  itemsFunction('join', [0, 1], (input, [separator], { run }) => {
    if (input.length === 0) return NOTHING
    const texts = input.map((item) => textArgument('join', [item]) ?? '')
    const joined = texts.join(textArgument('join', separator) ?? '')
    spendWriting(run, joined.length)
    return [joined]
  }),
  { name: 'matches', arity: [1, 1], compile: (call) => matching(call, (regex, text, steps) => regex.test(text, steps)) },
  { name: 'matchesFull', arity: [1, 1], compile: (call) => matching(call, (regex, text, steps) => regex.matchesWhole(text, steps)) },
  { name: 'replaceMatches', arity: [2, 2], compile: replaceMatches },
]

/** The greatest limit that JavaScript's `split` can have: a budget without limit would be one of 0. */
const MOST_PARTS = 2 ** 32 - 1

/** Defines a function that looks for a text in another. */
function seeking(name: string, seek: (text: string, part: string) => SystemValue): FunctionDefinition {
  return textFunction(name, [1, 1], (text, [part], { run }) =>
    withText(name, part, (found) => {
      spendSeeking(run, text, found)
      return seek(text, found)
    }),
  )
}

/** Counts the search for a text in another: engines compare wherever it fits, at worst all characters, of which 1,024 take as long as one step. */
function spendSeeking(run: Run, text: string, part: string): void {
  spendReading(run, text.length)
  const places = Math.max(0, text.length - part.length + 1)
  spend(run, Math.floor((places * part.length) / 1024))
}

/** Counts the steps of an automaton, of which 16 take as long as one of an expression. */
function spendMatching(run: Run): SpendSteps {
  let rest = 0
  return (steps) => {
    rest += steps
    if (rest < 16) return
    spend(run, Math.floor(rest / 16))
    rest %= 16
  }
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

function matching({ input, args: [pattern] }: Call, test: (regex: LinearRegex, text: string, spend: SpendSteps) => boolean): Code {
  const regexOf = patternOf(pattern)
  return codeOfTruth((scope) => {
    const text = textArgument('matches', input.items(scope))
    const regex = regexOf(scope)
    if (text === undefined || regex === undefined) return undefined
    spendReading(scope.run, 4 * text.length)
    return test(regex, text, spendMatching(scope.run))
  })
}

function replaceMatches({ input, args: [pattern, substitution] }: Call): Code {
  const regexOf = patternOf(pattern)
  return codeOfItems((scope) => {
    const text = textArgument('replaceMatches', input.items(scope))
    const regex = regexOf(scope)
    const by = textArgument('replaceMatches', substitution?.items(scope))
    if (text === undefined || regex === undefined || by === undefined) return NOTHING
    if (regex.pattern === '') return [text]
    // A substitution may repeat matches, so its length times that of the text is an upper bound of the result's length.
    spendWriting(scope.run, (text.length + 1) * (by.length + 1))
    return [replaceAll(regex, text, by, spendMatching(scope.run))]
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
    if (last?.text !== text) {
      last = { text, regex: compileRegex(text, { dotAll: true }) }
      spend(scope.run, text.length + last.regex.states)
    }
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
  return textFunction(name, [1, 1], (text, [format], { run }) => {
    spendWriting(run, text.length)
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
