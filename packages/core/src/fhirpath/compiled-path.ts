import { checkOptions, having, inputShape, type InputShape } from '../input/index.js'
import { checkText, OperationError } from '../errors/index.js'
import type { Ast } from './ast.js'
import { type Code, DEFAULT_BUDGET, rootScope, type Run, type Scope } from './code.js'
import { compile } from './compile.js'
import { PENDING, type FhirPathContext, type Pending } from './host.js'
import type { Item, Items } from './item.js'
import { UNTYPED_MODEL, type TypeModel } from './model.js'
import { parseFhirPath } from './parser.js'
import { budgetProblem } from './problem.js'

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
  }
}

function bounded(code: Code, scope: Scope): Items {
  const items = code.items(scope)
  const { items: most } = scope.run.budget
  if (items.length > most) throw budgetProblem(`${most} items`)
  return items
}
