import type { SnomedIndex } from '../release/snomed-index.js'
import { rowsOf } from '../evaluate/row-range.js'
import type { Expression } from './expression.js'
import { normalForm, rowsIn, type NormalForm } from './normal-form.js'

type Rows = ReturnType<typeof rowsIn>

/**
 * True when everything that a concept means holds: a focus is the concept or below it, or the concept is fully defined and its
 * primitive ancestors and all relationships that define it hold.
 */
export function isBelowConcept(index: SnomedIndex, form: NormalForm, concept: number): boolean {
  if (form.foci.some((focus) => index.isWithin(focus, concept))) return true
  if (!index.isDefined(concept)) return false
  const primitives = index.ancestors(concept).filter((ancestor) => !index.isDefined(ancestor))
  if (!primitives.every((ancestor) => form.foci.some((focus) => index.isWithin(focus, ancestor)))) return false
  const definition = rowsIn(rowsOf(index, concept))
  return definition.length > 0 && satisfies(index, form, definition)
}

/** True when everything that an expression says holds. */
export function isBelowExpression(index: SnomedIndex, form: NormalForm, above: Expression): boolean {
  if (!above.foci.every((focus) => isBelowConcept(index, form, focus))) return false
  return satisfies(index, form, rowsIn(normalForm(index, { ...above, foci: [] }).range))
}

/** True when each role group that is demanded is found in a group with relationships that are the same or below. */
function satisfies(index: SnomedIndex, form: NormalForm, demanded: Rows): boolean {
  const offered = groupsOf(rowsIn(form.range))
  return groupsOf(demanded).every((wanted) =>
    offered.some((found) => wanted.every((row) => found.some((other) => isRowWithin(index, other, row)))),
  )
}

function isRowWithin(index: SnomedIndex, row: Rows[number], above: Rows[number]): boolean {
  if (!index.isWithin(row.type, above.type)) return false
  return row.value === above.value || (row.value < index.size && above.value < index.size && index.isWithin(row.value, above.value))
}

/** A relationship outside of groups is a group of its own. */
function groupsOf(rows: Rows): readonly Rows[] {
  const [alone, grouped] = [rows.filter(({ group }) => group === 0), rows.filter(({ group }) => group !== 0)]
  return [...alone.map((row) => [row]), ...Map.groupBy(grouped, ({ group }) => group).values()]
}
