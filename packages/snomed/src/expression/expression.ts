import { CONCRETE } from '../release/section-reader.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import { type RowRange, rowsOf } from '../evaluate/ecl-scope.js'
import { EclError, eclReader, parseConcept, type ConceptReference, type EclReader } from '../ecl/index.js'
import { SCT } from '../sctid.js'

/** An attribute of an expression. */
interface ExpressionAttribute {
  /** Ordinal of the attribute. */
  readonly type: number
  /** An ordinal, or a concrete value as written (`#5`, `"text"`). */
  readonly value: number | string
}

/** A postcoordinated expression over the concepts of one version. @see https://confluence.ihtsdotools.org/display/DOCSCG */
export interface Expression {
  /** Ordinals of the focus concepts. */
  readonly foci: readonly number[]
  readonly ungrouped: readonly ExpressionAttribute[]
  readonly groups: readonly (readonly ExpressionAttribute[])[]
}

/** An expression, or a concept treated as one, with everything known to be true of it. */
export interface NormalForm {
  readonly foci: readonly number[]
  /** Its own relationships, together with those that define its foci. */
  readonly range: RowRange
}

interface Row {
  readonly type: number
  readonly group: number
  readonly value: number
}

/** Returns the normal form of an expression: relationships of the foci are added, and each role group remains a separate group. */
export function normalForm(index: SnomedIndex, { foci, ungrouped, groups }: Expression): NormalForm {
  const rows: Row[] = ungrouped.map((attribute) => rowOf(index, attribute, 0))
  let last = 0
  for (const group of groups) {
    last++
    for (const attribute of group) rows.push(rowOf(index, attribute, last))
  }
  for (const focus of foci) {
    const inherited = rowsIn(rowsOf(index, focus))
    rows.push(...inherited.map((row) => ({ ...row, group: row.group === 0 ? 0 : row.group + last })))
    last += Math.max(0, ...inherited.map(({ group }) => group))
  }
  const sorted = rows.toSorted((a, b) => a.group - b.group)
  const column = (read: (row: Row) => number): Uint32Array => Uint32Array.from(sorted, read)
  const columns = { types: column(({ type }) => type), groups: column(({ group }) => group), values: column(({ value }) => value) }
  return { foci, range: { rows: columns, from: 0, to: sorted.length } }
}

/** Returns the normal form of a concept. */
export function normalFormOf(index: SnomedIndex, concept: number): NormalForm {
  return { foci: [concept], range: rowsOf(index, concept) }
}

/** Returns the relationships in a range. */
export function rowsIn({ rows, from, to }: RowRange): readonly Row[] {
  return Array.from({ length: to - from }, (_, i) => ({
    type: rows.types[from + i] ?? 0,
    group: rows.groups[from + i] ?? 0,
    value: rows.values[from + i] ?? 0,
  }))
}

/** Makes a row. A concrete value that no concept of the version has gets an unused number. */
function rowOf({ header }: SnomedIndex, { type, value }: ExpressionAttribute, group: number): Row {
  if (typeof value === 'number') return { type, group, value }
  const known = header.values.indexOf(value.replace(/^#/, ''))
  return { type, group, value: CONCRETE + (known < 0 ? header.values.length : known) }
}

type Rows = ReturnType<typeof rowsIn>

/**
 * True if the expression has everything that the concept means: one of its foci is the concept or below it, or the concept is fully defined and its
 * primitive ancestors and all its defining relationships hold.
 */
export function isBelowConcept(index: SnomedIndex, form: NormalForm, concept: number): boolean {
  if (form.foci.some((focus) => index.isWithin(focus, concept))) return true
  if (!index.isDefined(concept)) return false
  const primitives = index.ancestors(concept).filter((ancestor) => !index.isDefined(ancestor))
  if (!primitives.every((ancestor) => form.foci.some((focus) => index.isWithin(focus, ancestor)))) return false
  const definition = rowsIn(rowsOf(index, concept))
  return definition.length > 0 && satisfies(index, form, definition)
}

/** True if everything that an expression states holds. */
export function isBelowExpression(index: SnomedIndex, form: NormalForm, above: Expression): boolean {
  if (!above.foci.every((focus) => isBelowConcept(index, form, focus))) return false
  return satisfies(index, form, rowsIn(normalForm(index, { ...above, foci: [] }).range))
}

/** True if each required role group is matched by a group whose relationships are the same or more specific. */
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

/** Splits rows into role groups; each relationship outside groups becomes a group of its own. */
function groupsOf(rows: Rows): readonly Rows[] {
  const [alone, grouped] = [rows.filter(({ group }) => group === 0), rows.filter(({ group }) => group !== 0)]
  return [...alone.map((row) => [row]), ...Map.groupBy(grouped, ({ group }) => group).values()]
}

/** Returns the id and term of a concept for an expression. */
type ConceptNames = (concept: number) => { readonly id: string; readonly term: string }

/** Writes an expression with terms, without white space, in its original grouping. */
export function renderExpression({ foci, ungrouped, groups }: Expression, nameOf: ConceptNames): string {
  const concept = (ordinal: number): string => {
    const { id, term } = nameOf(ordinal)
    return `${id}|${term}|`
  }
  const attribute = ({ type, value }: ExpressionAttribute): string =>
    `${concept(type)}=${typeof value === 'number' ? concept(value) : value}`
  const parts = [...ungrouped.map(attribute), ...groups.map((group) => `{${group.map(attribute).join(',')}}`)]
  const focus = foci.map(concept).join('+')
  return parts.length === 0 ? focus : `${focus}:${parts.join(',')}`
}

/**
 * Parses an expression of the compositional grammar, and checks that its concepts exist and that its attributes are attribute concepts.
 *
 * @throws {EclError} if the text is not an expression; also for nested expressions and for `<<<`, which are not supported.
 */
export function parseExpression(index: SnomedIndex, text: string): Expression {
  const reader = eclReader(text)
  const parser = { index, reader }
  reader.blanks()
  if (reader.take('<<<')) throw new EclError('Definition status <<< (subtype of) is not supported', 0)
  if (reader.take('===')) reader.blanks()
  const foci = separated(parser, '+', concept)
  reader.blanks()
  const expression = reader.take(':') ? refined(parser, foci) : { foci, ungrouped: [], groups: [] }
  reader.blanks()
  if (!reader.ended) reader.fail('The end')
  return expression
}

interface Parser {
  readonly index: SnomedIndex
  readonly reader: EclReader
}

function refined(parser: Parser, foci: readonly number[]): Expression {
  const { reader } = parser
  const ungrouped: ExpressionAttribute[] = []
  const groups: (readonly ExpressionAttribute[])[] = []
  do {
    reader.blanks()
    if (reader.sees('{')) groups.push(group(parser))
    else ungrouped.push(attribute(parser))
    reader.blanks()
  } while (reader.take(',') || reader.sees('{'))
  return { foci, ungrouped, groups }
}

function group(parser: Parser): readonly ExpressionAttribute[] {
  const { reader } = parser
  reader.demand('{')
  const attributes = separated(parser, ',', attribute)
  reader.blanks()
  reader.demand('}')
  return attributes
}

function separated<T>(parser: Parser, separator: string, item: (parser: Parser) => T): readonly T[] {
  const { reader } = parser
  const items: T[] = []
  do {
    reader.blanks()
    items.push(item(parser))
    reader.blanks()
  } while (reader.take(separator))
  return items
}

function attribute(parser: Parser): ExpressionAttribute {
  const { reader, index } = parser
  const reference = parseConcept(reader)
  const type = existing(index, reference)
  const roots = [SCT.conceptModelAttribute, SCT.unapprovedAttribute]
  if (!roots.some((root) => isBelow(index, type, root))) {
    throw new EclError(
      `Concept ${reference.id} is not valid in this context (must be a descendent of one of ${roots.join(',')})`,
      reference.at,
    )
  }
  reader.blanks()
  reader.demand('=')
  reader.blanks()
  return { type, value: value(parser) }
}

function value(parser: Parser): number | string {
  const { reader } = parser
  if (reader.sees('(')) throw new EclError('Nested expressions are not supported', reader.at)
  if (reader.sees('"')) return quoted(reader)
  if (!reader.take('#')) return concept(parser)
  const number = reader.run((character) => /[-+0-9.]/.test(character))
  return /^[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/.test(number) ? `#${number}` : reader.fail('A number')
}

function quoted(reader: EclReader): string {
  reader.demand('"')
  const text = reader.run((character) => character !== '"')
  reader.demand('"')
  return `"${text}"`
}

function concept({ reader, index }: Parser): number {
  return existing(index, parseConcept(reader))
}

function existing({ ids }: SnomedIndex, { id, at }: ConceptReference): number {
  const found = ids.find(id)
  if (found === undefined) throw new EclError(`Concept ${id} not found`, at)
  return found
}

function isBelow(index: SnomedIndex, concept: number, root: string): boolean {
  const top = index.ids.find(root)
  return top !== undefined && concept !== top && index.isWithin(concept, top)
}
