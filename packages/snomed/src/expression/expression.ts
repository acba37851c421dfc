import { CONCRETE } from '../release/section-reader.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import { concreteKey, concreteText, type RowRange, rowsOf } from '../evaluate/ecl-scope.js'
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

/** A relationship. */
export interface Row {
  readonly type: number
  readonly group: number
  readonly value: number
  /** The value, if it is concrete, as it is stored. */
  readonly concrete?: string
}

/** Returns the normal form of an expression: relationships of the foci are added, and each role group remains a separate group. */
export function normalForm(index: SnomedIndex, { foci: stated, ungrouped, groups }: Expression): NormalForm {
  const foci = [...new Set(stated)]
  const ownValues: string[] = []
  const rows: Row[] = ungrouped.map((attribute) => rowOf({ index, ownValues }, attribute, 0))
  let last = 0
  for (const group of groups) {
    last++
    for (const attribute of group) rows.push(rowOf({ index, ownValues }, attribute, last))
  }
  for (const focus of foci) {
    const inherited = rowsIn(index, rowsOf(index, focus))
    rows.push(...inherited.map((row) => ({ ...row, group: row.group === 0 ? 0 : row.group + last })))
    last += Math.max(0, ...inherited.map(({ group }) => group))
  }
  const sorted = rows.toSorted((a, b) => a.group - b.group)
  const column = (read: (row: Row) => number): Uint32Array => Uint32Array.from(sorted, read)
  const columns = { types: column(({ type }) => type), groups: column(({ group }) => group), values: column(({ value }) => value) }
  return { foci, range: { rows: columns, from: 0, to: sorted.length, ownValues } }
}

/** Returns the normal form of a concept. */
export function normalFormOf(index: SnomedIndex, concept: number): NormalForm {
  return { foci: [concept], range: rowsOf(index, concept) }
}

/** Returns the relationships in a range. */
export function rowsIn(index: SnomedIndex, range: RowRange): readonly Row[] {
  const { rows, from, to } = range
  return Array.from({ length: to - from }, (_, i) => {
    const value = rows.values[from + i] ?? 0
    const concrete = concreteText(index, range, value)
    return { type: rows.types[from + i] ?? 0, group: rows.groups[from + i] ?? 0, value, ...(concrete !== undefined && { concrete }) }
  })
}

interface Numbering {
  readonly index: SnomedIndex
  /** Collects the concrete values that no concept of the version has. */
  readonly ownValues: string[]
}

function rowOf({ index: { header }, ownValues }: Numbering, { type, value }: ExpressionAttribute, group: number): Row {
  if (typeof value === 'number') return { type, group, value }
  const text = value.replace(/^#/, '')
  const known = header.values.indexOf(text)
  return { type, group, value: CONCRETE + (known < 0 ? header.values.length + ownValues.push(text) - 1 : known) }
}

type Rows = readonly Row[]

/**
 * True if the expression has everything that the concept means: one of its foci is the concept or below it, or the concept is fully defined and its
 * primitive ancestors and all its defining relationships hold.
 */
export function isBelowConcept(index: SnomedIndex, form: NormalForm, concept: number): boolean {
  if (form.foci.some((focus) => index.isWithin(focus, concept))) return true
  if (!index.isDefined(concept)) return false
  const primitives = index.ancestors(concept).filter((ancestor) => !index.isDefined(ancestor))
  if (!primitives.every((ancestor) => form.foci.some((focus) => index.isWithin(focus, ancestor)))) return false
  const definition = rowsIn(index, rowsOf(index, concept))
  return definition.length > 0 && satisfies(index, form, definition)
}

/** True if everything that an expression states holds. */
export function isBelowExpression(index: SnomedIndex, form: NormalForm, above: Expression): boolean {
  if (!above.foci.every((focus) => isBelowConcept(index, form, focus))) return false
  return satisfies(index, form, rowsIn(index, normalForm(index, { ...above, foci: [] }).range))
}

/** True if each required role group is matched by a group whose relationships are the same or more specific. */
function satisfies(index: SnomedIndex, form: NormalForm, demanded: Rows): boolean {
  const offered = groupsOf(rowsIn(index, form.range))
  return groupsOf(demanded).every((wanted) => offered.some((found) => isGroupWithin(index, found, wanted)))
}

/** True if each relationship of the second group is met by one of the first. */
function isGroupWithin(index: SnomedIndex, group: Rows, above: Rows): boolean {
  return above.every((row) => group.some((other) => isRowWithin(index, other, row)))
}

function isRowWithin(index: SnomedIndex, row: Row, above: Row): boolean {
  if (!index.isWithin(row.type, above.type)) return false
  if (row.concrete === undefined || above.concrete === undefined)
    return row.concrete === above.concrete && index.isWithin(row.value, above.value)
  return concreteKey(row.concrete) === concreteKey(above.concrete)
}

/** Splits rows into role groups; each relationship outside groups becomes a group of its own. */
function groupsOf(rows: Rows): readonly Rows[] {
  const [alone, grouped] = [rows.filter(({ group }) => group === 0), rows.filter(({ group }) => group !== 0)]
  return [...alone.map((row) => [row]), ...Map.groupBy(grouped, ({ group }) => group).values()]
}

/** Returns the id of a concept for an expression, and its term if terms are wanted. */
export type ConceptNames = (concept: number) => { readonly id: string; readonly term?: string }

/** A normal form as it is written: an expression after `===`, or after `<<<` if it does not tell everything. */
export interface WrittenForm {
  readonly status: '===' | '<<<'
  readonly expression: Expression
}

/**
 * Returns the necessary normal form of a concept: `===`, its parents and relationships if it is fully defined. A primitive concept is its own focus after
 * `<<<`, since its parents and relationships would not tell it from its siblings.
 */
export function conceptForm(index: SnomedIndex, concept: number): WrittenForm {
  const groups = groupsOf(rowsIn(index, rowsOf(index, concept)))
  return index.isDefined(concept)
    ? { status: '===', expression: expressionOf([...index.parents(concept)], groups) }
    : { status: '<<<', expression: expressionOf([concept], groups) }
}

/** Returns the normal form of an expression, without role groups that another one of it implies. */
export function expressionForm(index: SnomedIndex, { foci, range }: NormalForm): WrittenForm {
  return { status: '===', expression: expressionOf(foci, withoutImplied(index, groupsOf(rowsIn(index, range)))) }
}

function expressionOf(foci: readonly number[], groups: readonly Rows[]): Expression {
  const ungrouped = groups.filter(isAlone).flatMap(attributesOf)
  return { foci, ungrouped, groups: groups.filter((group) => !isAlone(group)).map(attributesOf) }
}

function attributesOf(rows: Rows): readonly ExpressionAttribute[] {
  return rows.map(({ type, value, concrete }) => {
    if (concrete === undefined) return { type, value }
    return { type, value: concrete.startsWith('"') ? concrete : `#${concrete}` }
  })
}

function isAlone([row]: Rows): boolean {
  return row?.group === 0
}

/** Removes role groups that another group implies; of equal groups, keeps the first. */
function withoutImplied(index: SnomedIndex, groups: readonly Rows[]): readonly Rows[] {
  const isImplied = (group: Rows, at: number): boolean =>
    groups.some((other, i) => i !== at && isGroupWithin(index, other, group) && (i < at || !isGroupWithin(index, group, other)))
  return groups.filter((group, at) => !isImplied(group, at))
}

/** Writes an expression, with terms where there are any, without white space, in its original grouping. */
export function renderExpression({ foci, ungrouped, groups }: Expression, nameOf: ConceptNames): string {
  const concept = (ordinal: number): string => {
    const { id, term } = nameOf(ordinal)
    return term === undefined ? id : `${id}|${term}|`
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
