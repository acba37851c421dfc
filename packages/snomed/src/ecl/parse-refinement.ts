import type { Attribute, AttributeValue, Cardinality, Constraint, Refinement } from './ast.js'
import { bracketsHoldName, EclError, isDigit, type EclReader } from './reader.js'
import { parseBoolean, parseComparison, parseNumber, parseSearchTerms } from './parse-terminals.js'

/** Parses a sub-expression constraint; passed as an argument, because constraints and refinements contain each other. */
export type SubParser = (reader: EclReader) => Constraint

/** Parses a refinement: attributes, groups and brackets, combined by AND (or commas) or by OR. */
export function parseRefinement(reader: EclReader, sub: SubParser): Refinement {
  return joined(reader, (inner) => part(inner, sub))
}

/** Parses the part after the name of an attribute. */
export function parseAttributeValue(reader: EclReader, sub: SubParser): AttributeValue {
  const { at } = reader
  const comparison = parseComparison(reader)
  if (reader.take('#')) return { kind: 'number', comparison, value: parseNumber(reader) }
  if (comparison !== '=' && comparison !== '!=') throw new EclError(`'${comparison}' compares numbers only`, at)
  if (reader.seesWord('true') || reader.seesWord('false')) return { kind: 'boolean', comparison, value: parseBoolean(reader) }
  if (seesText(reader)) return { kind: 'text', comparison, terms: parseSearchTerms(reader) }
  return { kind: 'concepts', comparison, constraint: sub(reader) }
}

function seesText(reader: EclReader): boolean {
  const { at } = reader
  if (reader.take('(')) reader.blanks()
  const isText = reader.sees('"') || reader.seesWord('match') || reader.seesWord('wild')
  reader.back(at)
  return isText
}

function part(reader: EclReader, sub: SubParser): Refinement {
  const cardinality = parseCardinality(reader)
  if (reader.take('{')) {
    reader.blanks()
    const attributes = joined(reader, (inner) => attributePart(inner, sub))
    reader.blanks()
    reader.demand('}')
    return { kind: 'group', attributes, ...(cardinality !== undefined && { cardinality }) }
  }
  if (cardinality !== undefined || !reader.sees('(') || bracketsHoldName(reader)) return attribute(reader, sub, cardinality)
  return inBrackets(reader, (inner) => parseRefinement(inner, sub))
}

function attributePart(reader: EclReader, sub: SubParser): Refinement {
  const cardinality = parseCardinality(reader)
  if (cardinality !== undefined || !reader.sees('(') || bracketsHoldName(reader)) return attribute(reader, sub, cardinality)
  return inBrackets(reader, (inner) => joined(inner, (innermost) => attributePart(innermost, sub)))
}

function inBrackets(reader: EclReader, inner: (reader: EclReader) => Refinement): Refinement {
  reader.demand('(')
  reader.blanks()
  const refinement = inner(reader)
  reader.blanks()
  reader.demand(')')
  return refinement
}

function attribute(reader: EclReader, sub: SubParser, cardinality: Cardinality | undefined): Attribute {
  const reverse = reader.takeWord('r') || reader.takeWord('reverseof')
  if (reverse) reader.blanks()
  const name = sub(reader)
  reader.blanks()
  return { kind: 'attribute', reverse, name, value: parseAttributeValue(reader, sub), ...(cardinality !== undefined && { cardinality }) }
}

interface Junction {
  readonly kind: 'and' | 'or'
  readonly at: number
}

function joined(reader: EclReader, item: (reader: EclReader) => Refinement): Refinement {
  const [items, junctions] = [[item(reader)], new Array<Junction>()]
  for (let next = junction(reader); next !== undefined; next = junction(reader)) {
    junctions.push(next)
    items.push(item(reader))
  }
  return nested(items, junctions)
}

function junction(reader: EclReader): Junction | undefined {
  const { at } = reader
  reader.blanks()
  const kind = takeJunction(reader)
  if (kind === undefined) reader.back(at)
  else reader.blanks()
  return kind && { kind, at }
}

/** The operator next to a group applies to the whole: `a OR b, { c }` means `(a OR b), { c }`. Without a group, mixed operators require brackets. */
function nested(items: readonly Refinement[], junctions: readonly Junction[]): Refinement {
  const groupAt = items.map((item) => !isAttributeSet(item))
  const isBesideGroup = (_: Junction, place: number): boolean => groupAt[place] === true || groupAt[place + 1] === true
  const outer = junctions.find(isBesideGroup) ?? junctions[0]
  const mustAgree = groupAt.includes(true) ? isBesideGroup : () => true
  const other = junctions.find((each, place) => each.kind !== outer?.kind && mustAgree(each, place))
  if (other !== undefined) throw new EclError('AND and OR are mixed without brackets', other.at)
  const sets = new Array<Refinement[]>()
  items.forEach((item, place) => {
    const before = junctions[place - 1]
    if (before === undefined || before.kind === outer?.kind) sets.push([item])
    else sets.at(-1)?.push(item)
  })
  const inner = outer?.kind === 'and' ? 'or' : 'and'
  return joinedBy(
    outer?.kind ?? 'and',
    sets.map((set) => joinedBy(inner, set)),
  )
}

function joinedBy(kind: 'and' | 'or', operands: readonly Refinement[]): Refinement {
  const [first, ...others] = operands
  return first !== undefined && others.length === 0 ? first : { kind, operands }
}

function isAttributeSet(refinement: Refinement): boolean {
  if (refinement.kind === 'attribute') return true
  return refinement.kind !== 'group' && refinement.operands.every(isAttributeSet)
}

/** Consumes `AND`, `,` or `OR`. */
export function takeJunction(reader: EclReader): 'and' | 'or' | undefined {
  if (reader.take(',') || reader.takeWord('and')) return 'and'
  return reader.takeWord('or') ? 'or' : undefined
}

function parseCardinality(reader: EclReader): Cardinality | undefined {
  const { at } = reader
  if (!reader.take('[')) return undefined
  const min = wholeNumber(reader)
  passTo(reader)
  const max = reader.take('*') || reader.takeWord('many') ? undefined : wholeNumber(reader)
  reader.demand(']')
  reader.blanks()
  if (max !== undefined && max < min) throw new EclError('The maximum of the cardinality is below its minimum', at)
  return { min, ...(max !== undefined && { max }) }
}

function passTo(reader: EclReader): void {
  const { at } = reader
  if (reader.blanks() && reader.takeWord('to') && reader.blanks()) return
  reader.back(at)
  reader.demand('..')
}

function wholeNumber(reader: EclReader): number {
  const digits = reader.run(isDigit)
  return /^(?:0|[1-9][0-9]{0,8})$/.test(digits) ? Number(digits) : reader.fail('A whole number')
}
