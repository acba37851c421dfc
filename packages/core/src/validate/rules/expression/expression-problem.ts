import { OperationError, quoted } from '../../../errors/index.js'
import {
  callProblem,
  constantOf,
  isSubtype,
  parseFhirPath,
  type Ast,
  type TypeDefinition,
  type TypeModel,
  type TypeSpecifier,
} from '../../../fhirpath/index.js'

/** The possible types of an expression's result; `undefined` when they are not known. */
type Types = readonly TypeDefinition[] | undefined

/** The place at which an expression is evaluated. */
export interface ExpressionPlace {
  readonly model: TypeModel
  /** The types of the value that it is evaluated on; empty when they are not known. */
  readonly focus: readonly TypeDefinition[]
  /** The type of `%resource`, if it is known. */
  readonly resource?: TypeDefinition | undefined
}

/** A problem of an expression. */
export interface ExpressionProblem {
  readonly text: string
  /** False for an expression that can be evaluated, but has no result. */
  readonly isError: boolean
}

/**
 * The problem of an expression that cannot be right at its place: it cannot be parsed, calls a function that does not exist or takes other arguments, names
 * an element that does not exist, or tests for a type that a value cannot have. Steps that depend on data, and those after them, are not checked.
 *
 * @throws {OperationError} `too-costly` for an expression that is too long or deep.
 */
export function expressionProblem(expression: string, place: ExpressionPlace): ExpressionProblem | undefined {
  try {
    const problems: ExpressionProblem[] = []
    const check = { ...place, problems, isStart: true, definesVariables: expression.includes('defineVariable') }
    typesOf(parseFhirPath(expression), check, place.focus.length === 0 ? undefined : place.focus)
    return problems.find(({ isError }) => isError) ?? problems[0]
  } catch (error) {
    if (error instanceof OperationError && error.code !== 'too-costly') return { text: error.message, isError: true }
    throw error
  }
}

interface Check extends ExpressionPlace {
  readonly problems: ExpressionProblem[]
  /** True outside the arguments of functions, where an expression may begin with the name of a type. */
  readonly isStart: boolean
  /** True when the expression may define variables itself. */
  readonly definesVariables: boolean
}

function typesOf(ast: Ast, check: Check, focus: Types): Types {
  switch (ast.kind) {
    case 'this':
      return focus
    case 'variable':
      checkVariable(ast.name, check)
      return ast.name === 'resource' ? only(check.resource) : undefined
    case 'member':
      return memberTypes(ast, check, focus)
    case 'call':
      checkCall(ast, check)
      return callTypes(ast, check, focus)
    case 'item':
      typesOf(ast.position, check, undefined)
      return typesOf(ast.target, check, focus)
    case 'sign':
      typesOf(ast.operand, check, focus)
      return undefined
    case 'binary':
      return binaryTypes(ast, check, focus)
    case 'type':
      return castTypes(check, ast.type, { from: typesOf(ast.operand, check, focus), isCast: ast.operator === 'as' })
    default:
      return undefined
  }
}

/** The variables that FHIR defines; `extension` is for context invariants of extensions. */
const VARIABLES: ReadonlySet<string> = new Set(['resource', 'rootResource', 'context', 'extension', 'terminologies', 'factory', 'server'])

function checkVariable(name: string, { problems, definesVariables }: Check): void {
  if (definesVariables || VARIABLES.has(name) || constantOf(name) !== undefined) return
  problems.push({ text: `In the expression, there is no variable ${quoted(`%${name}`)}.`, isError: true })
}

function only(type: TypeDefinition | undefined): Types {
  return type === undefined ? undefined : [type]
}

function binaryTypes({ operator, left, right }: Ast & { kind: 'binary' }, check: Check, focus: Types): Types {
  const [one, other] = [typesOf(left, check, focus), typesOf(right, check, focus)]
  return operator === '|' && one !== undefined && other !== undefined ? [...one, ...other] : undefined
}

interface Cast {
  readonly from: Types
  /** False when the type is only tested. */
  readonly isCast: boolean
}

function castTypes({ model, problems }: Check, { namespace, name }: TypeSpecifier, { from, isCast }: Cast): Types {
  const type = namespace === 'System' ? undefined : model.type(name)
  const isSystem = namespace === 'System' || (namespace === undefined && SYSTEM.has(name))
  const isPossible =
    isSystem ||
    (type !== undefined &&
      (from === undefined ||
        from.some((one) => ANYTHING.has(one.name) || isSubtype(model, one, type.name) || isSubtype(model, type, one.name))))
  if (isCast && !isPossible)
    problems.push({
      text: `${quoted(name)} is not a type that the value can have: ${namesOf(from ?? []) || 'there is no such type'}.`,
      isError: false,
    })
  return isCast ? only(type) : undefined
}

function namesOf(types: readonly TypeDefinition[]): string {
  return [...new Set(types.map((type) => type.name))].slice(0, 5).join(', ')
}

/** Types of FHIRPath itself. */
const SYSTEM: ReadonlySet<string> = new Set([
  'Boolean',
  'String',
  'Integer',
  'Decimal',
  'Date',
  'DateTime',
  'Time',
  'Quantity',
  'Long',
  'Any',
])

function memberTypes({ target, name }: Ast & { kind: 'member' }, check: Check, focus: Types): Types {
  if (target !== undefined) return step(check, typesOf(target, check, focus), name)
  const type = check.model.type(name)
  if (type !== undefined && focus?.some((one) => isSubtype(check.model, one, name)) === true) return focus
  if (type?.kind === 'resource' && check.isStart) return focus === undefined ? [type] : otherStart(check, type, focus)
  return name === 'System' || name === 'FHIR' ? undefined : step(check, focus, name)
}

/** An expression for several types may begin with each of them. One that begins with another type is an error, because it never matches. */
function otherStart({ model, problems }: Check, type: TypeDefinition, focus: readonly TypeDefinition[]): Types {
  const isAbstract = focus.some(({ name }) => name === 'Resource' || name === 'DomainResource')
  if (!isAbstract && !focus.some((one) => isSubtype(model, type, one.name)))
    problems.push({ text: `The expression starts from ${quoted(type.name)}, but it is for ${namesOf(focus)}.`, isError: true })
  return [type]
}

/** Types that may have any element. */
const ANYTHING: ReadonlySet<string> = new Set(['Resource', 'DomainResource', 'Any', 'Element', 'BackboneElement', 'xhtml'])

function step(check: Check, from: Types, name: string): Types {
  if (from === undefined || from.length === 0 || from.some((type) => ANYTHING.has(type.name))) return undefined
  const slots = from.flatMap((type) => type.elements.get(name) ?? [])
  if (slots.length === 0) {
    check.problems.push({ text: `There is no element ${quoted(name)} in ${namesOf(from)}.`, isError: true })
    return undefined
  }
  const types = slots.map(({ type }) => check.model.type(type))
  return types.every((type) => type !== undefined) ? types : undefined
}

/** Functions that return their input or a part of it. */
const SAME: ReadonlySet<string> = new Set([
  'where',
  'first',
  'last',
  'tail',
  'skip',
  'take',
  'single',
  'distinct',
  'intersect',
  'exclude',
  'trace',
  'sort',
])
/** Functions whose arguments are evaluated on each item. */
const ON_ITEMS: ReadonlySet<string> = new Set(['where', 'all', 'exists', 'select', 'iif', 'trace', 'sort', 'any'])

function checkCall({ name, args }: Ast & { kind: 'call' }, { problems }: Check): void {
  const text = callProblem(name, args.length)
  if (text !== undefined) problems.push({ text: `In the expression, ${text}.`, isError: true })
}

function callTypes({ target, name, args }: Ast & { kind: 'call' }, check: Check, focus: Types): Types {
  const on = target === undefined ? focus : typesOf(target, check, focus)
  if (name === 'as' || name === 'ofType' || name === 'is') {
    const type = specifierOf(args[0])
    return type === undefined ? undefined : castTypes(check, type, { from: on, isCast: name !== 'is' })
  }
  if (name === 'repeat' || name === 'aggregate') return undefined
  const inner = { ...check, isStart: false }
  const results = args.map((one) => typesOf(one, inner, ON_ITEMS.has(name) ? on : focus))
  if (SAME.has(name)) return on
  if (name === 'select') return results[0]
  if (name === 'extension') return only(check.model.type('Extension'))
  const [added] = results
  return (name === 'union' || name === 'combine') && on !== undefined && added !== undefined ? [...on, ...added] : undefined
}

/** The name of a type as an argument: `Quantity`, `FHIR.Quantity`. */
function specifierOf(ast: Ast | undefined): TypeSpecifier | undefined {
  if (ast?.kind !== 'member') return undefined
  if (ast.target === undefined) return { name: ast.name }
  return ast.target.kind === 'member' && ast.target.target === undefined ? { namespace: ast.target.name, name: ast.name } : undefined
}
