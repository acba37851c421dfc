import type { Attribute, AttributeValue, Cardinality, Constraint, Refinement } from './ast.js'
import { bracketsHoldName } from './brackets.js'
import { EclError } from './ecl-error.js'
import { parseBoolean, parseComparison, parseNumber, parseSearchTerms } from './parse-value.js'
import { isDigit, type EclReader } from './reader.js'

/** Reads a sub-expression constraint; comes as an argument, as constraints and refinements hold each other. */
export type SubParser = (reader: EclReader) => Constraint

/** Reads a refinement: attributes, groups and brackets, joined by AND (or commas) or by OR, never by both. */
export function parseRefinement(reader: EclReader, sub: SubParser): Refinement {
  return joined(reader, (inner) => part(inner, sub))
}

/** Reads what stands behind the name of an attribute. */
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
  const reverse = reader.takeWord('r')
  if (reverse) reader.blanks()
  const name = sub(reader)
  reader.blanks()
  return { kind: 'attribute', reverse, name, value: parseAttributeValue(reader, sub), ...(cardinality !== undefined && { cardinality }) }
}

function joined(reader: EclReader, item: (reader: EclReader) => Refinement): Refinement {
  const operands = [item(reader)]
  let kind: 'and' | 'or' | undefined
  for (;;) {
    const end = reader.at
    reader.blanks()
    const found = takeJunction(reader)
    if (found === undefined) {
      reader.back(end)
      break
    }
    if (kind !== undefined && kind !== found) throw new EclError('AND and OR stand side by side without brackets', end)
    kind = found
    reader.blanks()
    operands.push(item(reader))
  }
  const [only] = operands
  return kind === undefined && only !== undefined ? only : { kind: kind ?? 'and', operands }
}

/** Takes `AND`, `,` or `OR`. */
export function takeJunction(reader: EclReader): 'and' | 'or' | undefined {
  if (reader.take(',') || reader.takeWord('and')) return 'and'
  return reader.takeWord('or') ? 'or' : undefined
}

function parseCardinality(reader: EclReader): Cardinality | undefined {
  const { at } = reader
  if (!reader.take('[')) return undefined
  const min = wholeNumber(reader)
  reader.demand('..')
  const max = reader.take('*') ? undefined : wholeNumber(reader)
  reader.demand(']')
  reader.blanks()
  if (max !== undefined && max < min) throw new EclError('The cardinality ends before it begins', at)
  return { min, ...(max !== undefined && { max }) }
}

function wholeNumber(reader: EclReader): number {
  const digits = reader.run(isDigit)
  return /^(?:0|[1-9][0-9]{0,8})$/.test(digits) ? Number(digits) : reader.fail('A whole number')
}
