import type { Comparison } from '../../storage/index.js'
import { escaped, splitUnescaped, unescaped } from '../values/escapes.js'
import { invalidValue, type Alternatives, type Ask, type EntryFields } from './kind.js'
import { numberTests } from './number.js'
import { quantityTests } from './quantity.js'
import { kindOf } from './registry.js'
import { foldedText } from './string.js'

/**
 * A composite matches tuples of values that belong together. The first component of a tuple keeps its place in the entry (`system`,
 * `value`); of the second, a token or a unit goes to `text` and a number or time to `low` and `high`; of three, the numbers of the second
 * and third go to `low` and `high`.
 *
 * @see https://hl7.org/fhir/R4/search.html#composite
 */
export interface TupleComponent {
  readonly type: string
  readonly targets: readonly string[]
}

const FIRST: ReadonlySet<string> = new Set(['token', 'reference'])
const SECOND: ReadonlySet<string> = new Set(['token', 'quantity', 'string', 'date', 'number'])

/** Whether tuples of these components fit into entries. */
export function isSupportedTuple([first, second, third, ...rest]: readonly TupleComponent[]): boolean {
  if (first === undefined || second === undefined || rest.length > 0 || !FIRST.has(first.type)) return false
  return third === undefined ? SECOND.has(second.type) : second.type === 'number' && third.type === 'number'
}

/** The entries of one tuple: `values` holds for each component the fields of its values. */
export function tupleFields(components: readonly TupleComponent[], values: readonly (readonly EntryFields[])[]): readonly EntryFields[] {
  const [firsts = [], seconds = [], thirds] = values
  const tails = thirds === undefined ? seconds.flatMap((fields) => tailFields(components[1]?.type, fields)) : coordinates(seconds, thirds)
  return firsts.flatMap(({ system, value }) =>
    tails.map((tail) => ({ ...(system !== undefined && { system }), ...(value !== undefined && { value }), ...tail })),
  )
}

function coordinates(seconds: readonly EntryFields[], thirds: readonly EntryFields[]): readonly EntryFields[] {
  return seconds.flatMap(({ low }) =>
    thirds.map(({ high }) => ({ ...(low !== undefined && { low }), ...(high !== undefined && { high }) })),
  )
}

function tailFields(type: string | undefined, fields: EntryFields): readonly EntryFields[] {
  if (type === 'string') return fields.text === undefined ? [] : [{ text: fields.text }]
  const { low, high } = fields
  const bounds = { ...(low !== undefined && { low }), ...(high !== undefined && { high }) }
  if (type === 'date' || type === 'number') return [bounds]
  const codes = codeForms(fields).map((text) => ({ ...bounds, text }))
  return codes.length === 0 && type === 'quantity' ? [bounds] : codes
}

/** Every form in which a search can name the code: alone, with its system, with none, or by the system alone. */
function codeForms({ system, value }: EntryFields): readonly string[] {
  if (value === undefined) return []
  const code = escaped(value)
  return system === undefined ? [code, `|${code}`] : [code, `${escaped(system)}|${code}`, `${escaped(system)}|`]
}

/** What a query for a tuple (`a$b`) demands. */
export function tupleTests(components: readonly TupleComponent[], ask: Ask): Alternatives {
  const parts = splitUnescaped(ask.value, '$')
  if (parts.length !== components.length) throw invalidValue(ask, `a tuple of ${components.length} values parted by $`)
  const asks = components.map(({ targets }, index) => ({ ...ask, value: parts[index] ?? '', modifier: undefined, targets }))
  const tests = asks.map((part, index) => componentTests(components, index, part))
  return tests.reduce(product, [[]])
}

function componentTests(components: readonly TupleComponent[], index: number, ask: Ask): Alternatives {
  const type = components[index]?.type ?? ''
  if (index > 0 && components.length === 3) return coordinateTests(ask, index === 1 ? 'low' : 'high')
  const tail = index === 0 ? undefined : TAILS.get(type)
  return tail === undefined ? (kindOf(type)?.alternatives(ask) ?? []) : tail(ask)
}

/** How the second component is asked for where it does not have its usual place in the entry. */
const TAILS: ReadonlyMap<string, (ask: Ask) => Alternatives> = new Map([
  ['token', (ask): Alternatives => [[{ field: 'text', op: 'eq', operand: codeForm(ask) }]]],
  ['string', (ask): Alternatives => [[{ field: 'text', op: 'prefix', operand: foldedText(ask) }]]],
  ['quantity', quantityTailTests],
])

function coordinateTests(ask: Ask, field: 'low' | 'high'): Alternatives {
  return numberTests(ask, ask.value).map((test) => test.map((comparison) => onField(comparison, field)))
}

function onField(comparison: Comparison, field: 'low' | 'high'): Comparison {
  return comparison.field === 'low' || comparison.field === 'high' ? { ...comparison, field } : comparison
}

function codeForm(ask: Ask): string {
  const parts = splitUnescaped(ask.value, '|').map(unescaped)
  if (parts.length > 2 || parts.every((part) => part === '')) throw invalidValue(ask, 'a token (code, system|code, system| or |code)')
  return parts.map(escaped).join('|')
}

function quantityTailTests(ask: Ask): Alternatives {
  const { numbers, code, system } = quantityTests(ask)
  if (code === undefined) return numbers
  const operand = system === undefined ? escaped(code) : `${escaped(system)}|${escaped(code)}`
  return numbers.map((test) => [...test, { field: 'text', op: 'eq', operand }])
}

function product(left: Alternatives, right: Alternatives): Alternatives {
  return left.flatMap((a) => right.map((b) => [...a, ...b]))
}
