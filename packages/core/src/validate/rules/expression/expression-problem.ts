import { OperationError, quoted } from '../../../errors/index.js'
import {
  callProblem,
  constantOf,
  isSubtype,
  parseFhirPath,
  type Ast,
  type Literal,
  type SystemType,
  type TypeDefinition,
  type TypeModel,
  type TypeSpecifier,
} from '../../../fhirpath/index.js'
import {
  INTEGER,
  FUNCTION_TYPES,
  type Accepted,
  ANYTHING,
  arithmeticType,
  isTemporal,
  known,
  namesOf,
  only,
  system,
  SYSTEM_TYPES,
  union,
  UNKNOWN,
  type ExpressionProblem,
  type TypeCheck,
  type Types,
} from './function-types.js'

/** The place at which an expression is evaluated. */
interface ExpressionPlace {
  readonly model: TypeModel
  /** The types of the value that it is evaluated on; empty when they are not known. */
  readonly focus: readonly TypeDefinition[]
  /** The type of `%resource`, if it is known. */
  readonly resource?: TypeDefinition | undefined
  /** False for the url of an extension that is not known, which `extension()` should not ask for. Every url is taken for known when it is absent. */
  readonly knowsExtension?: (url: string) => boolean
}

/**
 * The problem of an expression that cannot be right at its place: it cannot be parsed, calls a function that does not exist, takes other arguments or
 * cannot be called on a value of this type, names an element that does not exist, or tests for a type that a value cannot have. A step is checked only if
 * the types of its input are known, and a function can be called on a choice of types if it can be called on one of them.
 *
 * @throws {OperationError} `too-costly` for an expression that is too long or deep.
 */
export function expressionProblem(expression: string, place: ExpressionPlace): ExpressionProblem | undefined {
  try {
    const problems: ExpressionProblem[] = []
    const check = { ...place, problems, isStart: true, definesVariables: expression.includes('defineVariable') }
    typesOf(parseFhirPath(expression), check, known(place.focus))
    return problems.find(({ isError }) => isError) ?? problems[0]
  } catch (error) {
    if (error instanceof OperationError && error.code !== 'too-costly') return { text: error.message, isError: true }
    throw error
  }
}

interface Check extends ExpressionPlace, TypeCheck {
  /** True outside the arguments of functions, where an expression may begin with the name of a type. */
  readonly isStart: boolean
  /** True when the expression may define variables itself. */
  readonly definesVariables: boolean
}

function typesOf(ast: Ast, check: Check, focus: Types): Types {
  switch (ast.kind) {
    case 'empty':
    case 'total':
      return undefined
    case 'this':
      return focus
    case 'index':
      return system('Integer')
    case 'literal':
      return system(LITERAL_TYPES[ast.literal.type])
    case 'variable':
      return variableTypes(ast.name, check)
    case 'member':
      return memberTypes(ast, check, focus)
    case 'call':
      checkArity(ast, check)
      return callTypes(ast, check, focus)
    case 'item':
      checkParameter(check, typesOf(ast.position, check, focus), { name: 'item', number: 1, accepted: INTEGER })
      return typesOf(ast.target, check, focus)
    case 'sign':
      return typesOf(ast.operand, check, focus)
    case 'binary':
      return binaryTypes(ast, check, focus)
    case 'type': {
      const cast = castTypes(check, ast.type, { from: typesOf(ast.operand, check, focus), isCast: ast.operator === 'as' })
      return ast.operator === 'as' ? cast : system('Boolean')
    }
  }
}

const LITERAL_TYPES: Readonly<Record<Literal['type'], SystemType>> = {
  boolean: 'Boolean',
  string: 'String',
  integer: 'Integer',
  decimal: 'Decimal',
  date: 'Date',
  dateTime: 'DateTime',
  time: 'Time',
  quantity: 'Quantity',
}

/** The variables of FHIR; `extension` is only for expressions about the context of an extension. */
const VARIABLES: ReadonlySet<string> = new Set(['resource', 'rootResource', 'context', 'extension', 'terminologies', 'factory', 'server'])

function variableTypes(name: string, { problems, definesVariables, resource, focus }: Check): Types {
  if (constantOf(name) !== undefined) return system('String')
  if (!definesVariables && !VARIABLES.has(name))
    problems.push({ text: `In the expression, there is no variable ${quoted(`%${name}`)}.`, isError: true })
  if (name === 'context') return known(focus)
  return name === 'resource' ? only(resource) : undefined
}

function binaryTypes({ operator, left, right }: Ast & { kind: 'binary' }, check: Check, focus: Types): Types {
  const [one, other] = [typesOf(left, check, focus), typesOf(right, check, focus)]
  switch (operator) {
    case '|':
      return union(one, other)
    case '&':
      return system('String')
    case '+':
    case '-':
      if (one?.every(isTemporal) !== true) return arithmeticType(one, other)
      checkDuration(check, one, other)
      return one
    case '*':
    case 'mod':
      return arithmeticType(one, other)
    case 'div':
      return system('Integer')
    case '/':
      return arithmeticType(one, other) && system('Decimal')
    default:
      return system('Boolean')
  }
}

/** A date or time can only be changed by a duration, which is a Quantity. */
function checkDuration({ problems }: Check, moment: readonly TypeDefinition[], duration: Types): void {
  if (duration === undefined || duration.some((type) => type.system === 'Quantity' || UNKNOWN.has(type.name))) return
  problems.push({
    text: `Error in date arithmetic: ${namesOf(duration)} cannot be added to or subtracted from ${namesOf(moment)}.`,
    isError: true,
  })
}

interface Cast {
  readonly from: Types
  /** False for a test of the type. */
  readonly isCast: boolean
}

/** The types after a cast or a test of the type. Reports a cast to a type that the value cannot have. */
function castTypes({ model, problems }: Check, { namespace, name }: TypeSpecifier, { from, isCast }: Cast): Types {
  const ofSystem = namespace === 'FHIR' ? undefined : SYSTEM_TYPES.get(name)
  const ofModel = namespace === 'System' ? undefined : model.type(name)
  const isSystem = namespace === 'System' || ofSystem !== undefined || OTHER_SYSTEM_TYPES.has(name)
  const isPossible =
    isSystem ||
    (ofModel !== undefined &&
      (from === undefined ||
        from.some((one) => ANYTHING.has(one.name) || isSubtype(model, one, ofModel.name) || isSubtype(model, ofModel, one.name))))
  if (isCast && !isPossible)
    problems.push({
      text: `${quoted(name)} is not a type that the value can have: ${namesOf(from ?? []) || 'there is no such type'}.`,
      isError: false,
    })
  return only(ofModel ?? ofSystem)
}

/** Types of FHIRPath that are newer than the version supported here, or abstract. */
const OTHER_SYSTEM_TYPES: ReadonlySet<string> = new Set(['Long', 'Any'])

function memberTypes({ target, name }: Ast & { kind: 'member' }, check: Check, focus: Types): Types {
  if (target !== undefined) return step(check, typesOf(target, check, focus), name)
  const type = check.model.type(name)
  if (type !== undefined && focus?.some((one) => isSubtype(check.model, one, name)) === true) return focus
  if (type?.kind === 'resource' && check.isStart) return focus === undefined ? [type] : otherStart(check, type, focus)
  return name === 'System' || name === 'FHIR' ? undefined : step(check, focus, name)
}

/** An expression for several types may begin with each of them. One that begins with another type is an error, because it never matches. */
function otherStart({ model, problems }: Check, type: TypeDefinition, focus: readonly TypeDefinition[]): Types {
  const isAbstract = focus.some(({ name }) => ANY_RESOURCE.has(name))
  if (!isAbstract && !focus.some((one) => isSubtype(model, type, one.name)))
    problems.push({ text: `The expression starts from ${quoted(type.name)}, but it is for ${namesOf(focus)}.`, isError: true })
  return [type]
}

const ANY_RESOURCE: ReadonlySet<string> = new Set(['Resource', 'DomainResource'])

/** The elements of all resources, collected once for each model. */
const RESOURCE_ELEMENTS = new WeakMap<TypeModel, ReadonlySet<string>>()

function resourceElements(model: TypeModel): ReadonlySet<string> {
  const collected = RESOURCE_ELEMENTS.get(model)
  if (collected !== undefined) return collected
  const types = [...model.names()].flatMap((name) => model.type(name) ?? [])
  const elements = new Set(types.flatMap((type) => (type.kind === 'resource' ? [...type.elements.keys()] : [])))
  RESOURCE_ELEMENTS.set(model, elements)
  return elements
}

function step(check: Check, from: Types, name: string): Types {
  if (from === undefined) return undefined
  if (from.some((type) => ANYTHING.has(type.name))) {
    if (from.every((type) => ANY_RESOURCE.has(type.name)) && !resourceElements(check.model).has(name))
      check.problems.push({ text: `There is no element ${quoted(name)} in any resource.`, isError: true })
    return undefined
  }
  const slots = from.flatMap((type) => type.elements.get(name) ?? [])
  if (slots.length === 0) {
    check.problems.push({ text: `There is no element ${quoted(name)} in ${namesOf(from)}.`, isError: true })
    return undefined
  }
  const types = slots.map(({ type }) => check.model.type(type))
  return types.every((type) => type !== undefined) ? [...new Set(types)] : undefined
}

/** Functions whose arguments are evaluated on each item. */
const ON_ITEMS: ReadonlySet<string> = new Set(['where', 'all', 'exists', 'select', 'iif', 'trace'])

function checkArity({ name, args }: Ast & { kind: 'call' }, { problems }: Check): void {
  const text = callProblem(name, args.length)
  if (text !== undefined) problems.push({ text: `In the expression, ${text}.`, isError: true })
}

function callTypes({ target, name, args }: Ast & { kind: 'call' }, check: Check, focus: Types): Types {
  const on = target === undefined ? focus : typesOf(target, check, focus)
  if (name === 'as' || name === 'ofType' || name === 'is') {
    const type = specifierOf(args[0])
    const cast = type && castTypes(check, type, { from: on, isCast: name !== 'is' })
    return name === 'is' ? system('Boolean') : cast
  }
  if (name === 'aggregate') return undefined
  const [only] = args
  if (name === 'extension' && only?.kind === 'literal') checkExtensionUrl(check, only.literal)
  const inner = { ...check, isStart: false }
  const results = args.map((one) => typesOf(one, inner, argumentFocus(name, on, focus)))
  checkCall(check, { name, on, results })
  return resultTypes(check, { name, on, results })
}

function checkExtensionUrl({ knowsExtension, problems }: Check, literal: Literal): void {
  if (knowsExtension === undefined || literal.type !== 'string' || knowsExtension(literal.text)) return
  problems.push({ text: `The extension ${quoted(literal.text)} could not be found; check its url.`, isError: false })
}

/** The types that an argument is evaluated on. Those of `repeat` are not known, because it is also evaluated on its own results. */
function argumentFocus(name: string, on: Types, focus: Types): Types {
  if (name === 'repeat') return undefined
  return ON_ITEMS.has(name) ? on : focus
}

/** The name of a type as an argument: `Quantity`, `FHIR.Quantity`. */
function specifierOf(ast: Ast | undefined): TypeSpecifier | undefined {
  if (ast?.kind !== 'member') return undefined
  if (ast.target === undefined) return { name: ast.name }
  return ast.target.kind === 'member' && ast.target.target === undefined ? { namespace: ast.target.name, name: ast.name } : undefined
}

/** A call whose input and arguments have known types. */
interface TypedCall {
  readonly name: string
  /** The types of its input. */
  readonly on: Types
  /** The types of its arguments. */
  readonly results: readonly Types[]
}

/** Reports a function that cannot be called on its input, and arguments that it cannot take. */
function checkCall(check: TypeCheck, { name, on, results }: TypedCall): void {
  const types = FUNCTION_TYPES.get(name)
  const { model, problems } = check
  const { on: accepted } = types ?? {}
  if (accepted !== undefined && on?.some((type) => isAccepted(type, accepted, model)) === false)
    problems.push({ text: `The function ${name}() can only be used on ${accepted.name}, but found ${namesOf(on)}.`, isError: true })
  for (const [i, parameter] of (types?.parameters ?? []).entries())
    checkParameter(check, results[i], { name, number: i + 1, accepted: parameter })
  if (
    (name === 'subsetOf' || name === 'supersetOf') &&
    on !== undefined &&
    results[0]?.some((type) => isLikeSome(type, on, model)) === false
  )
    problems.push({
      text: `The parameter type ${namesOf(results[0])} is not legal for ${name}(), because it is called on ${namesOf(on)}.`,
      isError: true,
    })
}

interface Parameter {
  /** Of the function. */
  readonly name: string
  /** From 1. */
  readonly number: number
  readonly accepted: Accepted
}

/** Reports an argument that a function cannot take. */
function checkParameter({ model, problems }: TypeCheck, types: Types, { name, number, accepted }: Parameter): void {
  const wrong = types?.filter((type) => !isAccepted(type, accepted, model)) ?? []
  if (wrong.length > 0)
    problems.push({
      text: `The parameter type ${namesOf(wrong)} is not legal for ${name}() parameter ${number}, which is ${accepted.name}.`,
      isError: true,
    })
}

function isAccepted(type: TypeDefinition, { accepts }: Accepted, model: TypeModel): boolean {
  return UNKNOWN.has(type.name) || accepts(type, model)
}

function isLikeSome(type: TypeDefinition, others: readonly TypeDefinition[], model: TypeModel): boolean {
  return others.some(
    (other) =>
      ANYTHING.has(type.name) ||
      ANYTHING.has(other.name) ||
      (type.system !== undefined && type.system === other.system) ||
      isSubtype(model, type, other.name) ||
      isSubtype(model, other, type.name),
  )
}

/** The types of the result. */
function resultTypes({ model }: TypeCheck, { name, on, results }: TypedCall): Types {
  switch (name) {
    case 'select':
      return results[0]
    case 'iif':
      return results.length === 2 ? results[1] : union(results[1], results[2])
    case 'union':
    case 'combine':
      return union(on, results[0])
    case 'extension':
      return only(model.type('Extension'))
    case 'resolve':
      return only(model.type('Resource'))
    default: {
      const result = FUNCTION_TYPES.get(name)?.result
      return result === 'same' ? on : result && system(result)
    }
  }
}
