import type { Ast, Literal } from './ast.js'
import { codeOfConstant, codeOfItems, type Code } from './code.js'
import { compileBinary, compileSign } from './compile-operator.js'
import { compileIndexer, compileMember } from './compile-path.js'
import { asType, isOfType } from './compile-type.js'
import { callProblem, functionOf } from './functions/registry.js'
import { decimalText, parseDecimal } from './decimal.js'
import { NOTHING, type Item } from './item.js'
import type { TypeModel } from './model.js'
import { typeSpecifierOf } from './parser.js'
import { syntaxProblem } from './problem.js'
import { calendarUnit } from './quantity.js'
import { parseDate, parseDateTime, parseTime } from './temporal.js'
import { compileVariable } from './variables.js'

/** Context of a compilation. */
export interface CompileContext {
  readonly source: string
  readonly model: TypeModel
}

/**
 * Compiles an expression to closures.
 *
 * @throws {OperationError} `fhirpath-invalid` for unknown functions, a wrong number of arguments, and invalid literals.
 */
export function compile(ast: Ast, context: CompileContext): Code {
  switch (ast.kind) {
    case 'empty':
      return codeOfConstant(NOTHING)
    case 'literal':
      return codeOfConstant([literalValue(ast.literal, context, ast.at)])
    case 'variable':
      return compileVariable(ast.name)
    case 'this':
      return THIS
    case 'index':
      return codeOfItems((scope) => [scope.index])
    case 'total':
      return codeOfItems((scope) => scope.total)
    case 'member':
      return compileMember(ast.target && compile(ast.target, context), ast.name, context.model)
    default:
      return compileComposite(ast, context)
  }
}

const THIS: Code = codeOfItems((scope) => scope.focus)

type Composite = Exclude<Ast, { kind: 'empty' | 'literal' | 'variable' | 'this' | 'index' | 'total' | 'member' }>

function compileComposite(ast: Composite, context: CompileContext): Code {
  switch (ast.kind) {
    case 'call':
      return compileCall(ast, context)
    case 'item':
      return compileIndexer(compile(ast.target, context), compile(ast.position, context))
    case 'sign':
      return compileSign(ast.sign, compile(ast.operand, context))
    case 'binary':
      return compileBinary(ast.operator, compile(ast.left, context), compile(ast.right, context))
    case 'type': {
      const operand = compile(ast.operand, context)
      return ast.operator === 'is' ? isOfType(operand, ast.type, context.model) : asType(operand, ast.type, context.model)
    }
  }
}

function compileCall(ast: Ast & { kind: 'call' }, context: CompileContext): Code {
  const problem = callProblem(ast.name, ast.args.length)
  if (problem !== undefined) throw syntaxProblem(problem, context.source, ast.at)
  const definition = functionOf(ast.name)
  const input = ast.target === undefined ? THIS : compile(ast.target, context)
  if (definition.takesType !== true) {
    const args = ast.args.map((arg) => compile(arg, context))
    return definition.compile({ input, args, model: context.model })
  }
  const type = typeSpecifierOf(ast.args[0])
  if (type === undefined) throw syntaxProblem(`${ast.name}() takes a type`, context.source, ast.at)
  return definition.compile({ input, args: [], model: context.model, type })
}

function literalValue(literal: Literal, { source }: CompileContext, at: number): Item {
  const value = valueOf(literal)
  if (value === undefined) throw syntaxProblem(`the literal is not of type ${literal.type}`, source, at)
  return value
}

function valueOf(literal: Literal): Item | undefined {
  switch (literal.type) {
    case 'boolean':
      return literal.value
    case 'string':
      return literal.text
    case 'integer':
      return Number(literal.text) <= 2_147_483_647 ? Number(literal.text) : undefined
    case 'quantity':
      return quantityValue(literal.text, literal.unit)
    default:
      return PARSERS[literal.type](literal.text)
  }
}

const PARSERS = { decimal: parseDecimal, date: parseDate, dateTime: parseDateTime, time: parseTime } as const

function quantityValue(text: string, spelled: string): Item | undefined {
  const value = parseDecimal(text)
  if (value === undefined) return undefined
  const unit = spelled.startsWith("'") ? spelled.slice(1, -1) : calendarUnit(spelled)
  return unit === undefined || decimalText(value) === '' ? undefined : { kind: 'quantity', value, unit }
}
