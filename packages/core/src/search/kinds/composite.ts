import type { Comparison } from '../../storage/index.js'
import { splitUnescaped } from '../written-values.js'
import { invalidValue, textFields, type Alternatives, type Ask, type EntryFields } from './kind.js'
import { kindOf } from './registry.js'

/**
 * A component of a composite parameter, which matches tuples of values that belong together. The first component of a tuple keeps its place in the entry
 * (`system`, `value`); of the second, a token or a unit goes to `text` and a number or time to `low` and `high`; of three, the numbers of the second
 * and third go to `low` and `high`. `tuple` of a kind defines which components it can be.
 *
 * @see https://hl7.org/fhir/R4/search.html#composite
 */
interface TupleComponent {
  readonly type: string
  readonly targets: readonly string[]
}

/** True if tuples of these components fit into entries. */
export function isSupportedTuple([first, second, third, ...rest]: readonly TupleComponent[]): boolean {
  const [head, middle, last] = [first, second, third].map((component) => component && kindOf(component.type)?.tuple)
  if (head?.first !== true || rest.length > 0) return false
  return third === undefined ? middle?.second !== undefined : middle?.coordinate !== undefined && last?.coordinate !== undefined
}

/** Creates the entries of one tuple. @param values For each component, the fields of its values. */
export function tupleFields(components: readonly TupleComponent[], values: readonly (readonly EntryFields[])[]): readonly EntryFields[] {
  const [firsts = [], seconds = [], thirds] = values
  const second = kindOf(components[1]?.type ?? '')?.tuple?.second
  const tails = thirds === undefined ? seconds.flatMap((fields) => second?.fields(fields) ?? []) : coordinates(seconds, thirds)
  return firsts.flatMap(({ system, value }) => tails.map((tail) => ({ ...textFields(system, value), ...tail })))
}

function coordinates(seconds: readonly EntryFields[], thirds: readonly EntryFields[]): readonly EntryFields[] {
  return seconds.flatMap(({ low }) =>
    thirds.map(({ high }) => ({ ...(low !== undefined && { low }), ...(high !== undefined && { high }) })),
  )
}

/** Parses a query for a tuple (`a$b`). */
export function tupleTests(components: readonly TupleComponent[], ask: Ask): Alternatives {
  const parts = splitUnescaped(ask.value, '$')
  if (parts.length !== components.length) throw invalidValue(ask, `a tuple of ${components.length} values separated by $`)
  const asks = components.map(({ targets }, index) => ({ ...ask, value: parts[index] ?? '', modifier: undefined, targets }))
  const tests = asks.map((part, index) => componentTests(components, index, part))
  return tests.reduce(product, [[]])
}

function componentTests(components: readonly TupleComponent[], index: number, ask: Ask): Alternatives {
  const kind = kindOf(components[index]?.type ?? '')
  if (kind === undefined || index === 0) return kind?.alternatives(ask) ?? []
  if (components.length < 3) return (kind.tuple?.second?.alternatives ?? kind.alternatives)(ask)
  const field = index === 1 ? 'low' : 'high'
  return (kind.tuple?.coordinate?.(ask) ?? []).map((test) => test.map((comparison) => onField(comparison, field)))
}

function onField(comparison: Comparison, field: 'low' | 'high'): Comparison {
  return comparison.field === 'low' || comparison.field === 'high' ? { ...comparison, field } : comparison
}

function product(left: Alternatives, right: Alternatives): Alternatives {
  return left.flatMap((a) => right.map((b) => [...a, ...b]))
}
