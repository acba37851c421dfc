import { checkText } from 'fhir-ops/internal/errors'
import type { Constraint, Focus, HierarchyOperator, History, MemberOf, SubConstraint } from './ast.js'
import { refuseDeepBrackets, EclError, eclReader, isLetter, type EclReader } from './reader.js'
import { parseConcept, parseIdentifier, takeAny } from './parse-terminals.js'
import { parseConceptFilter, parseDescriptionFilter, parseMemberFilter } from './parse-filter.js'
import { parseRefinement, takeJunction } from './parse-refinement.js'

/**
 * Parses an expression constraint, version 2.2 of the language. The keywords of the long syntax are accepted as well as the symbols of the brief one.
 *
 * @throws {EclError} with what was expected, and where.
 * @see https://confluence.ihtsdotools.org/display/DOCECL/5.3+Brief+Syntax
 * @see https://github.com/IHTSDO/snomed-expression-constraint-language/blob/master/syntax/abnf-long.txt
 */
export function parseEcl(text: string): Constraint {
  checkText('The expression', text)
  refuseDeepBrackets(text)
  const reader = eclReader(text)
  const constraint = expression(reader)
  reader.blanks()
  if (!reader.ended) reader.fail('The end')
  return constraint
}

function expression(reader: EclReader): Constraint {
  reader.blanks()
  const first = subConstraint(reader)
  const end = reader.at
  reader.blanks()
  if (reader.take(':')) {
    reader.blanks()
    return { kind: 'refined', focus: first, refinement: parseRefinement(reader, subConstraint) }
  }
  if (reader.sees('.')) return dotted(reader, first)
  reader.back(end)
  return compound(reader, first)
}

function dotted(reader: EclReader, focus: Constraint): Constraint {
  const attributes: Constraint[] = []
  let end = reader.at
  while (reader.take('.')) {
    reader.blanks()
    attributes.push(subConstraint(reader))
    end = reader.at
    reader.blanks()
  }
  reader.back(end)
  return { kind: 'dotted', focus, attributes }
}

function compound(reader: EclReader, first: Constraint): Constraint {
  const kind = junction(reader)
  if (kind === undefined) return first
  if (kind === 'minus') return only(reader, { kind, left: first, right: subConstraint(reader) })
  const operands = [first]
  do operands.push(subConstraint(reader))
  while (takes(reader, kind))
  return only(reader, { kind, operands })
}

/** Rejects AND, OR and MINUS mixed without brackets. */
function only(reader: EclReader, constraint: Constraint): Constraint {
  const { at } = reader
  const next = junction(reader)
  if (next === undefined) return constraint
  throw new EclError(`${next.toUpperCase()} needs brackets next to ${constraint.kind.toUpperCase()}`, at)
}

function takes(reader: EclReader, kind: 'and' | 'or'): boolean {
  const { at } = reader
  const isNext = junction(reader) === kind
  if (!isNext) reader.back(at)
  return isNext
}

/** Consumes the operator between two constraints, and the white space around it. */
function junction(reader: EclReader): 'and' | 'or' | 'minus' | undefined {
  const end = reader.at
  reader.blanks()
  const found = takeJunction(reader) ?? (reader.takeWord('minus') ? 'minus' : undefined)
  if (found === undefined) reader.back(end)
  else reader.blanks()
  return found
}

/** Symbol, keyword and operator; no symbol may begin with an earlier one. */
const OPERATORS: readonly (readonly [string, string, HierarchyOperator])[] = [
  ['!!>', 'top', 'top'],
  ['!!<', 'bottom', 'bottom'],
  ['<<!', 'childorselfof', '<<!'],
  ['>>!', 'parentorselfof', '>>!'],
  ['<<', 'descendantorselfof', '<<'],
  ['>>', 'ancestororselfof', '>>'],
  ['<!', 'childof', '<!'],
  ['>!', 'parentof', '>!'],
  ['<', 'descendantof', '<'],
  ['>', 'ancestorof', '>'],
]

function subConstraint(reader: EclReader): SubConstraint {
  const operator = takeOperator(reader)
  const memberOf = parseMemberOf(reader)
  const focus = parseFocus(reader)
  const found = parseFilters(reader, memberOf)
  return { kind: 'sub', focus, ...found, ...(operator !== undefined && { operator }), ...(memberOf !== undefined && { memberOf }) }
}

function takeOperator(reader: EclReader): HierarchyOperator | undefined {
  const { at } = reader
  const brief = OPERATORS.find(([symbol]) => reader.take(symbol))
  const long = brief ?? OPERATORS.find(([, word]) => reader.takeWord(word))
  // A keyword without a following space may be the scheme of an alternate identifier, such as `top#1`.
  if (reader.blanks() || brief !== undefined) return long?.[2]
  reader.back(at)
  return undefined
}

function parseMemberOf(reader: EclReader): MemberOf | undefined {
  const { at } = reader
  if (!reader.take('^') && !reader.takeWord('memberof')) return undefined
  reader.blanks()
  const fields = reader.take('[') ? memberFields(reader) : []
  reader.blanks()
  return { fields, at }
}

function memberFields(reader: EclReader): MemberOf['fields'] {
  const fields: string[] = []
  reader.blanks()
  const isAny = takeAny(reader)
  while (!isAny && (fields.length === 0 || reader.take(','))) {
    reader.blanks()
    fields.push(reader.run(isLetter) || reader.fail('A field of the reference set'))
    reader.blanks()
  }
  reader.blanks()
  reader.demand(']')
  return isAny ? '*' : fields
}

function parseFocus(reader: EclReader): Focus {
  if (reader.take('(')) {
    const constraint = expression(reader)
    reader.blanks()
    reader.demand(')')
    return { kind: 'nested', constraint }
  }
  const identifier = parseIdentifier(reader)
  if (identifier !== undefined) return { kind: 'identifier', identifier }
  if (takeAny(reader)) return { kind: 'any' }
  return { kind: 'concept', concept: parseConcept(reader) }
}

type Filters = Pick<SubConstraint, 'memberFilters' | 'filters' | 'history'>

function parseFilters(reader: EclReader, memberOf: MemberOf | undefined): Filters {
  const memberFilters: SubConstraint['memberFilters'][number][] = []
  const filters: SubConstraint['filters'][number][] = []
  for (;;) {
    const end = reader.at
    reader.blanks()
    const { at } = reader
    if (!reader.take('{{')) {
      reader.back(end)
      return { memberFilters, filters }
    }
    reader.blanks()
    if (reader.take('+')) return { memberFilters, filters, history: parseHistory(reader) }
    if (reader.takeWord('m')) {
      if (memberOf === undefined || filters.length > 0) throw new EclError("A member filter must follow '^'", at)
      memberFilters.push(list(reader, (inner) => parseMemberFilter(inner, subConstraint)))
    } else if (reader.takeWord('c'))
      filters.push({ kind: 'concept', filters: list(reader, (inner) => parseConceptFilter(inner, subConstraint)) })
    else {
      reader.takeWord('d')
      filters.push({ kind: 'description', filters: list(reader, (inner) => parseDescriptionFilter(inner, subConstraint)) })
    }
  }
}

function list<T>(reader: EclReader, item: (reader: EclReader) => T): readonly T[] {
  const items: T[] = []
  do {
    reader.blanks()
    items.push(item(reader))
    reader.blanks()
  } while (reader.take(','))
  reader.demand('}}')
  return items
}

function parseHistory(reader: EclReader): History {
  reader.blanks()
  if (!reader.takeWord('history')) reader.fail('HISTORY')
  const history = historyExtent(reader)
  reader.blanks()
  reader.demand('}}')
  return history
}

function historyExtent(reader: EclReader): History {
  if (reader.take('-') || reader.take('_')) {
    return { profile: (['min', 'mod', 'max'] as const).find((word) => reader.takeWord(word)) ?? reader.fail('MIN, MOD or MAX') }
  }
  reader.blanks()
  if (!reader.take('(')) return { profile: 'max' }
  const refsets = expression(reader)
  reader.blanks()
  reader.demand(')')
  return { refsets }
}
