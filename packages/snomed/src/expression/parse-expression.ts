import { EclError, eclReader, parseConcept, type ConceptReference, type EclReader } from '../ecl/index.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import { SCT } from '../sctid.js'
import type { Expression, ExpressionAttribute } from './expression.js'

/**
 * Reads an expression of the compositional grammar and checks that its concepts exist and that attributes appear where attributes belong.
 *
 * @throws {EclError} when it is none; also for expressions in expressions and for `<<<`, which are not supported.
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
