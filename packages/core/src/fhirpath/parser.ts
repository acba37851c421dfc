import { tokenize, type Token } from './lexer.js'
import { budgetProblem, syntaxProblem } from './problem.js'

const MAX_DEPTH = 64
const MAX_NODES = 2_000
const TYPE_PRECEDENCE = 9

/** Precedence of the operators; a higher number binds stronger (FHIRPath N1, "Operator Precedence"). */
const PRECEDENCE: ReadonlyMap<string, number> = new Map([
  ...level(11, ['*', '/', 'div', 'mod']),
  ...level(10, ['+', '-', '&']),
  ...level(TYPE_PRECEDENCE, ['is', 'as']),
  ...level(8, ['|']),
  ...level(7, ['<', '<=', '>', '>=']),
  ...level(6, ['=', '!=', '~', '!~']),
  ...level(5, ['in', 'contains']),
  ...level(4, ['and']),
  ...level(3, ['or', 'xor']),
  ...level(2, ['implies']),
])

const UNITS: ReadonlySet<string> = new Set(
  ['year', 'month', 'week', 'day', 'hour', 'minute', 'second', 'millisecond'].flatMap((unit) => [unit, `${unit}s`]),
)

/**
 * Parses an expression (FHIRPath 2.0 grammar).
 *
 * @throws {OperationError} `fhirpath-invalid` with the offset of a syntax error; `fhirpath-budget` for more than 2,000 tokens or a nesting
 *   deeper than 64.
 * @see https://hl7.org/fhirpath/N1/grammar.html
 */
export function parseFhirPath(source: string): Ast {
  const state: ParserState = { source, tokens: tokenize(source), at: 0, depth: 0 }
  if (state.tokens.length > MAX_NODES) throw budgetProblem(`${MAX_NODES} tokens in an expression`)
  const ast = parseExpression(state, 0)
  const rest = peek(state)
  if (rest.kind !== 'end') throw syntaxProblem('unexpected text after the expression', source, rest.at)
  return ast
}

interface ParserState {
  readonly source: string
  readonly tokens: readonly Token[]
  at: number
  depth: number
}

function level(strength: number, operators: readonly string[]): [string, number][] {
  return operators.map((operator) => [operator, strength])
}

function peek(state: ParserState): Token {
  return state.tokens[state.at] ?? { kind: 'end', text: '', at: state.source.length }
}

function next(state: ParserState): Token {
  const token = peek(state)
  state.at += 1
  return token
}

function take(state: ParserState, symbol: string): boolean {
  const token = peek(state)
  if (token.kind !== 'symbol' || token.text !== symbol) return false
  state.at += 1
  return true
}

function expect(state: ParserState, symbol: string): void {
  if (!take(state, symbol)) throw syntaxProblem(`'${symbol}' is missing`, state.source, peek(state).at)
}

/** Parses operators that bind stronger than `floor`; operators of equal strength group to the left. */
function parseExpression(state: ParserState, floor: number): Ast {
  state.depth += 1
  if (state.depth > MAX_DEPTH) throw budgetProblem(`${MAX_DEPTH} nested expressions`)
  let left = parseSigned(state)
  for (;;) {
    const token = peek(state)
    const strength = token.kind === 'name' || token.kind === 'symbol' ? (PRECEDENCE.get(token.text) ?? 0) : 0
    if (strength <= floor) break
    state.at += 1
    left = parseOperation(state, left, { token, strength })
  }
  state.depth -= 1
  return left
}

function parseOperation(state: ParserState, left: Ast, { token, strength }: { token: Token; strength: number }): Ast {
  const operator = token.text
  if (operator === 'is' || operator === 'as') {
    return { kind: 'type', at: token.at, operator, operand: left, type: parseTypeSpecifier(state) }
  }
  if (!isBinary(operator)) throw syntaxProblem('there is no such operator', state.source, token.at)
  return { kind: 'binary', at: token.at, operator, left, right: parseExpression(state, strength) }
}

function isBinary(text: string): text is BinaryOperator {
  return PRECEDENCE.has(text) && text !== 'is' && text !== 'as'
}

/** Parses an optional sign, which binds weaker than a dot and stronger than any operator. */
function parseSigned(state: ParserState): Ast {
  const { at } = peek(state)
  const sign = take(state, '-') ? '-' : take(state, '+') ? '+' : undefined
  if (sign === undefined) return parseSteps(state)
  return { kind: 'sign', at, sign, operand: parseExpression(state, TYPE_PRECEDENCE + 2) }
}

function parseSteps(state: ParserState): Ast {
  let target = parseTerm(state)
  for (;;) {
    const { at } = peek(state)
    if (take(state, '.')) target = parseInvocation(state, target)
    else if (take(state, '[')) {
      target = { kind: 'item', at, target, position: parseExpression(state, 0) }
      expect(state, ']')
    } else return target
  }
}

function parseTerm(state: ParserState): Ast {
  const token = peek(state)
  const { at } = token
  if (take(state, '(')) {
    const inner = parseExpression(state, 0)
    expect(state, ')')
    return inner
  }
  if (take(state, '{')) {
    expect(state, '}')
    return { kind: 'empty', at }
  }
  if (token.kind === 'variable') return { kind: 'variable', at, name: next(state).text }
  return parseLiteral(state, token) ?? parseInvocation(state, undefined)
}

function parseLiteral(state: ParserState, token: Token): Ast | undefined {
  const literal = literalOf(token)
  if (literal === undefined) return undefined
  state.at += 1
  if (literal.type !== 'integer' && literal.type !== 'decimal') return { kind: 'literal', at: token.at, literal }
  const unit = peek(state)
  const isUnit = unit.kind === 'string' || (unit.kind === 'name' && UNITS.has(unit.text))
  if (!isUnit) return { kind: 'literal', at: token.at, literal }
  state.at += 1
  const spelled = unit.kind === 'string' ? `'${unit.text}'` : unit.text
  return { kind: 'literal', at: token.at, literal: { type: 'quantity', text: literal.text, unit: spelled } }
}

function literalOf({ kind, text }: Token): Literal | undefined {
  switch (kind) {
    case 'name':
      return text === 'true' || text === 'false' ? { type: 'boolean', value: text === 'true' } : undefined
    case 'string':
    case 'integer':
    case 'decimal':
    case 'date':
    case 'dateTime':
    case 'time':
      return { type: kind, text }
    default:
      return undefined
  }
}

function parseInvocation(state: ParserState, target: Ast | undefined): Ast {
  const token = next(state)
  const { at, text } = token
  if (token.kind === 'special' && target === undefined) return { kind: specialKind(text), at }
  if (token.kind !== 'quotedName' && !isName(token, target)) throw syntaxProblem('an expression is missing', state.source, at)
  const from = target === undefined ? {} : { target }
  if (!take(state, '(')) return { kind: 'member', at, ...from, name: text }
  return { kind: 'call', at, ...from, name: text, args: parseArguments(state) }
}

function specialKind(text: string): 'this' | 'index' | 'total' {
  return text === 'index' || text === 'total' ? text : 'this'
}

/** After a dot, a keyword can only be a name. `text.div` is common in profiles, although the grammar wants `` text.`div` ``. */
function isName(token: Token, target: Ast | undefined): boolean {
  return target === undefined ? isIdentifier(token) : token.kind === 'name'
}

function isIdentifier({ kind, text }: Token): boolean {
  if (kind !== 'name') return false
  return !PRECEDENCE.has(text) || text === 'as' || text === 'is' || text === 'in' || text === 'contains'
}

function parseArguments(state: ParserState): readonly Ast[] {
  const args: Ast[] = []
  if (take(state, ')')) return args
  do args.push(parseExpression(state, 0))
  while (take(state, ','))
  expect(state, ')')
  return args
}

function parseTypeSpecifier(state: ParserState): TypeSpecifier {
  const grouped = take(state, '(')
  const name = parseTypeName(state)
  const qualified = take(state, '.') ? { namespace: name, name: parseTypeName(state) } : { name }
  if (grouped) expect(state, ')')
  return qualified
}

function parseTypeName(state: ParserState): string {
  const token = next(state)
  if (token.kind !== 'quotedName' && !isIdentifier(token)) throw syntaxProblem('a type is missing', state.source, token.at)
  return token.text
}

/** Returns the type that an argument of `is()`, `as()` or `ofType()` names; `undefined` when it names none. */
export function typeSpecifierOf(ast: Ast | undefined): TypeSpecifier | undefined {
  if (ast?.kind !== 'member') return undefined
  if (ast.target === undefined) return { name: ast.name }
  const { target } = ast
  return target.kind === 'member' && target.target === undefined ? { namespace: target.name, name: ast.name } : undefined
}

/** Operators between two expressions, by their spelling. */
export type BinaryOperator =
  | '*'
  | '/'
  | 'div'
  | 'mod'
  | '+'
  | '-'
  | '&'
  | '|'
  | '<'
  | '<='
  | '>'
  | '>='
  | '='
  | '!='
  | '~'
  | '!~'
  | 'in'
  | 'contains'
  | 'and'
  | 'or'
  | 'xor'
  | 'implies'

/** A name as written: `Patient`, `FHIR.Patient`, `System.String`. */
export interface TypeSpecifier {
  readonly namespace?: string
  readonly name: string
}

/** A literal before it is read as a value; `text` is without quotes and without the leading `@`. */
export type Literal =
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'string' | 'integer' | 'decimal' | 'date' | 'dateTime' | 'time'; readonly text: string }
  | { readonly type: 'quantity'; readonly text: string; readonly unit: string }

/** A parsed expression. `at` is the offset in the source where the node begins; a step without `target` starts from `$this`. */
export type Ast =
  | { readonly kind: 'empty'; readonly at: number }
  | { readonly kind: 'literal'; readonly at: number; readonly literal: Literal }
  | { readonly kind: 'variable'; readonly at: number; readonly name: string }
  | { readonly kind: 'this' | 'index' | 'total'; readonly at: number }
  | { readonly kind: 'member'; readonly at: number; readonly target?: Ast; readonly name: string }
  | { readonly kind: 'call'; readonly at: number; readonly target?: Ast; readonly name: string; readonly args: readonly Ast[] }
  | { readonly kind: 'item'; readonly at: number; readonly target: Ast; readonly position: Ast }
  | { readonly kind: 'sign'; readonly at: number; readonly sign: '+' | '-'; readonly operand: Ast }
  | { readonly kind: 'binary'; readonly at: number; readonly operator: BinaryOperator; readonly left: Ast; readonly right: Ast }
  | { readonly kind: 'type'; readonly at: number; readonly operator: 'is' | 'as'; readonly operand: Ast; readonly type: TypeSpecifier }
