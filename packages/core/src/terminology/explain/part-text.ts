import { formatCanonical } from '../../content/index.js'
import { quoted } from '../../errors/index.js'
import type { Filter } from '../../code-system/index.js'
import type { ConceptSetPlan } from '../value-set/plan.js'
import { nameOf } from '../value-set/value-set.js'

/** What an include or exclude is about, in words: `codes of 'S|1' with 'concept' is-a 'x'`. */
export function partText({ definition, filters, imports }: ConceptSetPlan): string {
  const { system, version, concepts } = definition
  const codes = concepts === undefined ? 'codes' : `the list of ${codesText(concepts.length)}`
  const parts = [
    ...(system === undefined ? [] : [`${codes} of ${quoted(formatCanonical(system, version))}`]),
    ...(filters.length === 0 ? [] : [`with ${joined(filters, filterText)}`]),
    ...(imports.length === 0 ? [] : [`in ${joined(imports, ({ valueSet }) => quoted(nameOf(valueSet)))}`]),
  ]
  return parts.join(' ')
}

const MOST_NAMED = 5

function joined<T>(items: readonly T[], text: (item: T) => string): string {
  const more = items.length > MOST_NAMED ? [`${items.length - MOST_NAMED} more`] : []
  return [...items.slice(0, MOST_NAMED).map(text), ...more].join(' and ')
}

/** A number of codes in words. */
export function codesText(count: number): string {
  return count === 1 ? '1 code' : `${count} codes`
}

/** A filter in words. */
export function filterText({ property, op, value }: Filter): string {
  return `${quoted(property)} ${op} ${quoted(value)}`
}
