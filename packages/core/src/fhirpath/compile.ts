import { checkOptions, having, inputShape, type InputShape } from '../input/index.js'
import { checkText, OperationError } from '../errors/index.js'
import { type Ast, parseFhirPath, type Literal, typeSpecifierOf } from './parser.js'
import { type Code, DEFAULT_BUDGET, rootScope, type Run, type Scope, codeOfConstant, codeOfItems, compileVariable, spend } from './code.js'
import { PENDING, type FhirPathContext, type Pending } from './host.js'
import { NOTHING, isNode, toSystem, type Item, type Items } from './item.js'
import { UNTYPED_MODEL, type TypeModel, isSubtype } from './model.js'
import { budgetProblem, syntaxProblem, evaluationProblem } from './problem.js'
import { compileBinary, compileSign } from './compile-operator.js'
import { asType, isOfType } from './functions/types.js'
import { callProblem, functionOf } from './functions/registry.js'
import { decimalText, parseDecimal } from './decimal.js'
import { calendarUnit } from './quantity.js'
import { parseDate, parseDateTime, parseTime } from './temporal.js'
import { countChildren, pushChildren, skippedBy, type FhirNode } from './node.js'

/** Options of `compileFhirPath`. */
export interface FhirPathOptions {
  /** The types of the FHIR release. When absent, elements are found by their JSON names only. */
  readonly model?: TypeModel
}

/** A compiled expression, which can be evaluated any number of times. */
export interface CompiledPath {
  readonly expression: string
  /**
   * Evaluates the expression on a focus.
   *
   * @param focus Value of `$this` and `%context`; may be absent for an expression that does not use them.
   * @returns The items in order; `PENDING` when an answer of the host is pending: repeat the evaluation when the host has answered.
   * @throws {OperationError} `fhirpath-invalid` where the specification requires an error, `fhirpath-budget` when steps or items exceed
   *   the context's budget, `regex-unsupported` and `too-costly` from regular expressions.
   */
  evaluate(context: FhirPathContext, focus?: Item): Items | Pending
  /** Evaluates the expression as a truth value (singleton evaluation); `undefined` when it is empty. Throws as `evaluate`. */
  test(context: FhirPathContext, focus?: Item): boolean | undefined | Pending
}

const SHAPE: InputShape = inputShape<FhirPathOptions>({ model: having('types', ['type']) })

/**
 * Compiles a FHIRPath expression to closures.
 *
 * @throws {OperationError} `fhirpath-invalid` with the offset of a syntax error, or naming an unknown function or type; `fhirpath-budget` for
 *   expressions that exceed the limits of the parser.
 * @throws {TypeError} for an option that is unknown or of the wrong type.
 * @see https://hl7.org/fhirpath/N1/
 */
export function compileFhirPath(expression: string, options: FhirPathOptions = {}): CompiledPath {
  checkOptions('compileFhirPath', SHAPE, options)
  checkText('The expression', expression)
  return compiledPath(parseFhirPath(expression), expression, options)
}

/** A branch of a union. */
export interface CompiledBranch extends CompiledPath {
  readonly ast: Ast
}

/**
 * Compiles each branch of a union (`a | b`) separately; an expression without a union has one branch. For callers that ignore duplicates, because a
 * union would compare the results of its branches.
 *
 * @throws {OperationError} as `compileFhirPath`.
 */
export function compileBranches(expression: string, options: FhirPathOptions = {}): readonly CompiledBranch[] {
  return branchesOf(parseFhirPath(expression)).map((ast) => ({ ...compiledPath(ast, expression, options), ast }))
}

function branchesOf(ast: Ast): readonly Ast[] {
  return ast.kind === 'binary' && ast.operator === '|' ? [...branchesOf(ast.left), ...branchesOf(ast.right)] : [ast]
}

function compiledPath(ast: Ast, expression: string, options: FhirPathOptions): CompiledPath {
  const model = options.model ?? UNTYPED_MODEL
  const code = compile(ast, { source: expression, model })
  return {
    expression,
    evaluate: (context, focus) => settle(newRun(model, context, focus), (scope) => bounded(code, scope)),
    test: (context, focus) => settle(newRun(model, context, focus), code.truth),
  }
}

function newRun(model: TypeModel, context: FhirPathContext, focus: Item | undefined): Run {
  const budget = context.budget ?? DEFAULT_BUDGET
  return { context, budget, model, focus: focus === undefined ? [] : [focus], steps: 0, moment: undefined, isPending: false }
}

/** An evaluation that fails while an answer is pending may succeed with the answer, so the result is `PENDING`. */
function settle<T>(run: Run, evaluate: (scope: Scope) => T): T | Pending {
  try {
    const result = evaluate(rootScope(run))
    return run.isPending ? PENDING : result
  } catch (error) {
    if (run.isPending && error instanceof OperationError && error.code === 'fhirpath-invalid') return PENDING
    throw error
  } finally {
    run.context.spent?.(run.steps)
  }
}

function bounded(code: Code, scope: Scope): Items {
  const items = code.items(scope)
  const { items: most } = scope.run.budget
  if (items.length > most) throw budgetProblem(`${most} items`)
  return items
}

/** Context of a compilation. */
interface CompileContext {
  readonly source: string
  readonly model: TypeModel
}

/**
 * Compiles an expression to closures.
 *
 * @throws {OperationError} `fhirpath-invalid` for unknown functions, a wrong number of arguments, and invalid literals.
 */
function compile(ast: Ast, context: CompileContext): Code {
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

/**
 * Compiles a step to the elements with a name. At the head of a path, a type name means the focus itself if it is of that type.
 *
 * @see https://hl7.org/fhirpath/N1/#path-selection
 */
function compileMember(target: Code | undefined, name: string, model: TypeModel): Code {
  const step = memberStep(name, model)
  if (target !== undefined) {
    return {
      ...codeOfItems((scope) => step.items(scope, target.items(scope))),
      count: (scope) => step.count(scope, target.items(scope)),
    }
  }
  if (isTypeName(name, model)) return codeOfItems((scope) => ofTypeOrMember(scope, name, step))
  return { ...codeOfItems((scope) => step.items(scope, scope.focus)), count: (scope) => step.count(scope, scope.focus) }
}

/** Compiles an indexer: the item at a position, from 0; empty when there is none. */
function compileIndexer(target: Code, position: Code): Code {
  return codeOfItems((scope) => {
    const at = position.items(scope)
    if (at.length === 0) return NOTHING
    const index = toSystem(at[0])
    if (at.length > 1 || typeof index !== 'number') throw evaluationProblem('an indexer needs one Integer')
    const item = target.items(scope)[index]
    return item === undefined ? NOTHING : [item]
  })
}

interface MemberStep {
  items(scope: Scope, input: Items): Items
  count(scope: Scope, input: Items): number
}

function memberStep(name: string, model: TypeModel): MemberStep {
  const skips = skippedBy(model)
  const pushStep = (into: Item[], item: Item): void => {
    if (!isNode(item)) pushTypeInfo(into, item, name)
    else if (name === 'value' && item.type.kind === 'primitive') pushValue(into, item)
    else pushChildren(model, item, { name, into, skips })
  }
  return {
    items(scope, input) {
      const [only] = input
      if (only === undefined) return NOTHING
      const into: Item[] = []
      if (input.length === 1) pushStep(into, only)
      else for (const item of input) pushStep(into, item)
      spend(scope.run, input.length + into.length)
      return into
    },
    count(scope, input) {
      const [only] = input
      if (input.length !== 1 || !isNode(only) || only.type.kind === 'primitive') return this.items(scope, input).length
      spend(scope.run, 1)
      return countChildren(model, only, name)
    },
  }
}

function isTypeName(name: string, model: TypeModel): boolean {
  return /^[A-Z]/.test(name) && model.type(name) !== undefined
}

function ofTypeOrMember(scope: Scope, name: string, step: MemberStep): Items {
  const { focus } = scope
  const { model } = scope.run
  const [only] = focus
  if (focus.length === 1 && isNode(only) && isSubtype(model, only.type, name)) return focus
  return step.items(scope, focus)
}

/** Adds the `value` of a primitive element, which is its System value. */
function pushValue(values: Item[], node: FhirNode): void {
  const value = toSystem(node)
  if (value !== undefined) values.push(value)
}

function pushTypeInfo(values: Item[], item: Item, name: string): void {
  if (typeof item !== 'object' || item.kind !== 'type') return
  if (name === 'name') values.push(item.name)
  if (name === 'namespace') values.push(item.namespace)
  if (name === 'baseType') values.push(item.baseType)
}
