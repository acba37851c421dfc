import { dateSpan, type Span, type Token, type Values } from './values.js'

/** The current time, for the prefix `ap`. */
export const NOW: number = Date.UTC(2024, 0, 1)

/** Texts as R4 compares them: without case and accents. */
export function plain(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ß', 'ss')
}

/** Whether one of the values matches a search value of this parameter. */
export function matches(values: Values, { modifier, value }: { readonly modifier: string | undefined; readonly value: string }): boolean {
  switch (values.kind) {
    case 'token':
      return values.values.some((token) => (modifier === 'text' ? isText(token, value) : isToken(token, value)))
    case 'string':
      return values.values.some((text) => isString(text, value, modifier))
    case 'words':
      return hasWords(values.values.join(' '), value)
    case 'uri':
      return values.values.some((uri) => isUri(uri, meant(value), modifier))
    case 'reference':
      return values.values.some((reference) => isReference(reference, value, modifier))
    case 'quantity':
      return values.values.some((span) => isQuantity(span, value))
    case 'date':
      return values.values.some((span) => isSpan(span, { ...prefixed(value), spanOf: dateSpans }))
    case 'number':
      return values.values.some((span) => isSpan(span, { ...prefixed(value), spanOf: numberSpans }))
  }
}

/** Restores the characters of a part of a search value that `hideEscaped` replaced before the value was split. */
function meant(part: string): string {
  return part.replaceAll(/[\uE000-\uE003]/g, (hidden) => SPECIAL[hidden.charCodeAt(0) - 0xe000] ?? '')
}

const SPECIAL = ',|$\\'

/** Replaces characters escaped by a backslash with placeholders that have no meaning. */
export function hideEscaped(value: string): string {
  return value.replaceAll(/\\([,|$\\])/g, (_, special: string) => String.fromCharCode(0xe000 + SPECIAL.indexOf(special)))
}

function isText({ text }: Token, value: string): boolean {
  return text !== undefined && plain(text).startsWith(plain(meant(value)))
}

function isToken({ system, code }: Token, value: string): boolean {
  if (!value.includes('|')) return code === meant(value)
  const [first = '', second = ''] = value.split('|').map(meant)
  if (second === '') return system === first
  return code === second && (first === '' ? system === undefined : system === first)
}

function isString(text: string, value: string, modifier: string | undefined): boolean {
  if (modifier === 'exact') return text === meant(value)
  const asked = plain(meant(value))
  return modifier === 'contains' ? plain(text).includes(asked) : plain(text).startsWith(asked)
}

/** Words separated by blanks: each must occur, or must not after `not`; `or` separates alternatives. */
function hasWords(text: string, value: string): boolean {
  const words = plain(text).split(/[^\p{L}\p{N}]+/u)
  const holds = (asked: string): boolean =>
    asked.startsWith('not ') ? !holds(asked.slice('not '.length)) : asked.split(' ').every((word) => words.includes(plain(word)))
  return value.split(' or ').some(holds)
}

function isUri(uri: string, value: string, modifier: string | undefined): boolean {
  const isBelow = (one: string, other: string): boolean => one === other || one.startsWith(other.endsWith('/') ? other : `${other}/`)
  if (modifier === 'below') return isBelow(uri, value)
  return modifier === 'above' ? isBelow(value, uri) : uri === value
}

function isReference(reference: string, value: string, modifier: string | undefined): boolean {
  if (value.includes('/')) return reference === value
  return modifier === undefined ? reference.split('/')[1] === value : reference === `${modifier}/${value}`
}

function isQuantity(span: Span, value: string): boolean {
  const [number = '', system = '', code = ''] = value.split('|')
  const unitFits = (span.units ?? []).some((unit) => (code === '' || unit.code === code) && (system === '' || unit.system === system))
  return unitFits && isSpan(span, { ...prefixed(number), spanOf: numberSpans })
}

/** The spans of a search value: the exact one, and those for order and approximate comparisons. */
interface Meant {
  readonly exact: Span
  readonly ordered: Span
  readonly approximate: Span
  /** Whether the end of `exact` is part of it. */
  readonly closed: boolean
}

function dateSpans(text: string): Meant {
  const exact = dateSpan(text)
  const slack = Math.abs(NOW - exact.low) / 10
  return { exact, ordered: exact, approximate: { low: exact.low - slack, high: exact.high + slack }, closed: true }
}

function numberSpans(text: string): Meant {
  const value = Number(text)
  const [digits = '', exponent = '0'] = text.split('e')
  const half = 0.5 * 10 ** (Number(exponent) - (digits.split('.')[1] ?? '').length)
  const slack = Math.abs(value) / 10
  const round = (number: number): number => Number(number.toFixed(6))
  return {
    exact: { low: round(value - half), high: round(value + half) },
    ordered: { low: value, high: value },
    approximate: { low: value - slack, high: value + slack },
    closed: false,
  }
}

function prefixed(value: string): { readonly prefix: string; readonly rest: string } {
  const prefix = /^[a-z]{2}/.exec(value)?.[0]
  return prefix === undefined ? { prefix: 'eq', rest: value } : { prefix, rest: value.slice(2) }
}

interface SpanTest {
  readonly prefix: string
  readonly rest: string
  readonly spanOf: (text: string) => Meant
}

/** R4 search 3.1.1.4.5, the table of prefixes. */
function isSpan({ low, high }: Span, { prefix, rest, spanOf }: SpanTest): boolean {
  const { exact, ordered, approximate, closed } = spanOf(rest)
  const contained = low >= exact.low && (closed ? high <= exact.high : high < exact.high)
  const within = low >= ordered.low && high <= ordered.high
  const answers = new Map([
    ['eq', contained],
    ['ne', !contained],
    ['gt', high > ordered.high],
    ['lt', low < ordered.low],
    ['ge', high > ordered.high || within],
    ['le', low < ordered.low || within],
    ['sa', low > ordered.high],
    ['eb', high < ordered.low],
    ['ap', low <= approximate.high && high >= approximate.low],
  ])
  return answers.get(prefix) ?? false
}
