import { OperationError } from '../../../errors/index.js'
import { constantOf, parseFhirPath, type Ast, type TypeDefinition, type TypeModel } from '../../../fhirpath/index.js'
import type { JsonObject } from '../../../json/index.js'
import type { JsonTest } from '../../run/element-rule.js'
import {
  itemsAt,
  type MakeCriterion,
  countAt,
  isTrace,
  namesOf,
  onlySlot,
  textsAt,
  type Count,
  type Texts,
  type TypedValue,
} from './json-path.js'
import {
  added,
  compared,
  COMPARISONS,
  EMPTY,
  inOrder,
  joined,
  LOGIC,
  negated,
  OPEN,
  TEXT_TESTS,
  textCriterion,
  textTest,
  truthOf,
  type Read,
  type TextTest,
  type Value,
} from './json-values.js'

/**
 * Creates the test of an invariant on JSON values, without FHIRPath's nodes, lists and contexts: most invariants only ask what is present, what is absent,
 * and what a code is (bench `validate`). The test follows the evaluation step by step, operand by operand, and gives up at a step that it does not know. So
 * it is true or false only if the evaluation is.
 */
export function jsonTest(expression: string, model: TypeModel, { isOnRoot }: JsonTestOptions = {}): JsonTest {
  const known = new Map<TypeDefinition, ReturnType<JsonTest>>()
  return (type, compile) => {
    const found = known.get(type)
    if (found !== undefined) return found
    let read: Read | undefined
    const resource: TestedResource | undefined = isOnRoot === true && type.kind === 'resource' ? { type, value: NOTHING } : undefined
    const test = (value: JsonObject): boolean | undefined => {
      read ??= readOf(expression, { model, type, gaps: 0, resource }, compile)
      if (resource !== undefined) resource.value = value
      const truth = read(value)
      if (resource !== undefined) resource.value = NOTHING
      return typeof truth === 'boolean' ? truth : undefined
    }
    known.set(type, test)
    return test
  }
}

/** Options of `jsonTest`. */
export interface JsonTestOptions {
  /** True for an invariant of a resource itself: a resource that it is tested on is `%resource`. */
  readonly isOnRoot?: boolean
}

/** The resource that is tested, for `%resource` in the criteria on its parts. It is set only during a test. */
interface TestedResource {
  readonly type: TypeDefinition
  value: JsonObject
}

const NOTHING: JsonObject = {}

/**
 * An expression with steps that are not known here may not be FHIRPath at all. It is also compiled as a whole, so that it fails even if the first operand
 * decides.
 */
function readOf(expression: string, typed: Typed, compile: (expression: string) => unknown): Read {
  try {
    const read = compileRead(parseFhirPath(expression), typed)
    if (typed.gaps > 0) compile(expression)
    return read
  } catch (error) {
    if (error instanceof OperationError) return () => OPEN
    throw error
  }
}

interface Typed extends TypedValue {
  /** Number of steps that are not known here. */
  gaps: number
  /** `undefined` when `%resource` is another value than the tested one. */
  readonly resource: TestedResource | undefined
}

/** Compiles for values of another type. Its gaps count as gaps of the whole expression. */
function readIn(typed: Typed, type: TypeDefinition, compile: (own: Typed) => Read): Read {
  const own: Typed = { ...typed, type, gaps: 0 }
  const read = compile(own)
  typed.gaps += own.gaps
  return read
}

function gap(typed: Typed): () => typeof OPEN {
  typed.gaps++
  return () => OPEN
}

function compileRead(ast: Ast, typed: Typed): Read {
  switch (ast.kind) {
    case 'literal':
      return literalRead(ast.literal, typed)
    case 'variable':
      return constantRead(ast.name, typed)
    case 'member':
      return ast.target === undefined ? memberRead(ast.name, typed) : memberWithin(ast.target, ast.name, typed)
    case 'call':
      return callRead(ast, typed)
    case 'binary':
      return binaryRead(ast, typed)
    default:
      return gap(typed)
  }
}

function literalRead(literal: (Ast & { kind: 'literal' })['literal'], typed: Typed): Read {
  if (literal.type === 'boolean') return () => literal.value
  if (literal.type === 'string') return () => literal.text
  const number = literal.type === 'integer' ? Number(literal.text) : Infinity
  return number > MAX_INTEGER ? gap(typed) : () => number
}

const MAX_INTEGER = 2_147_483_647

function constantRead(name: string, typed: Typed): Read {
  const constant = constantOf(name)
  return constant === undefined ? gap(typed) : () => constant
}

/** FHIRPath types whose values JavaScript compares as FHIRPath does. */
const COMPARABLE: ReadonlyMap<string | undefined, string> = new Map([
  ['String', 'string'],
  ['Boolean', 'boolean'],
  ['Integer', 'number'],
  ['Decimal', 'number'],
])

function memberRead(name: string, typed: Typed): Read {
  const { model, type } = typed
  const slot = onlySlot(type, name)
  const wanted = COMPARABLE.get(slot === undefined ? undefined : model.type(slot.type)?.system)
  if (slot === undefined || slot.isCollection || wanted === undefined) return gap(typed)
  const { jsonName, siblingName } = slot
  return (holder) => {
    const value = holder[jsonName]
    if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return typeof value === wanted ? value : OPEN
    return value === undefined && holder[siblingName] === undefined ? EMPTY : OPEN
  }
}

/** An element of the single object that a path leads to. */
function memberWithin(target: Ast, name: string, typed: Typed): Read {
  const { resource } = typed
  if (target.kind === 'variable' && target.name === 'resource' && resource !== undefined) {
    const ofResource = readIn(typed, resource.type, (own) => memberRead(name, own))
    return () => ofResource(resource.value)
  }
  const items = itemsAt(target, typed, criterionIn(typed))
  if (items === undefined) return gap(typed)
  const read = readIn(typed, items.type, (own) => memberRead(name, own))
  return (value) => {
    const found: JsonObject[] = []
    if (!items.addTo(value, found) || found.length > 1) return OPEN
    return found[0] === undefined ? EMPTY : read(found[0])
  }
}

/** Creates criteria on items. */
function criterionIn(typed: Typed): MakeCriterion {
  return (criterion, { type }) => {
    const read = readIn(typed, type, (own) => compileRead(criterion, own))
    return (item) => {
      const truth = truthOf(read(item))
      return truth === OPEN ? undefined : truth === true
    }
  }
}

function callRead({ name, target, args }: Ast & { kind: 'call' }, typed: Typed): Read {
  if (target === undefined) return name === 'iif' ? eitherRead(args, typed) : gap(typed)
  if (isTrace(name, args)) return compileRead(target, typed)
  if (TEXT_TESTS.has(name)) return textRead(textTest(name, args), compileRead(target, typed)) ?? gap(typed)
  if (args.length > 0) return quantified(name, target, args, typed) ?? ofNothing(name, target, typed)
  if (name === 'isDistinct') return distinctRead(target, typed)
  if (name === 'not') return negated(compileRead(target, typed))
  if (name === 'hasValue') return valued(target, typed)
  if (name === 'toInteger') return integerRead(compileRead(target, typed))
  if (name === 'exists' || name === 'empty') return presenceRead(target, { isWanted: name === 'exists' }, typed)
  if (name === 'count') return countRead(compileCount(target, typed), (number) => number)
  return gap(typed)
}

/** `all` and `exists` with a criterion on the objects or texts of a path. */
function quantified(name: string, target: Ast, [criterion, ...others]: readonly Ast[], typed: Typed): Read | undefined {
  if ((name !== 'all' && name !== 'exists') || criterion === undefined || others.length > 0) return undefined
  const items = itemsAt(target, typed, criterionIn(typed))
  if (items === undefined) return name === 'all' ? allTexts(target, criterion, typed) : undefined
  const holds = criterionIn(typed)(criterion, { model: typed.model, type: items.type })
  const wanted = name === 'exists'
  return (value) => {
    const found: JsonObject[] = []
    if (!items.addTo(value, found)) return OPEN
    for (const one of found) {
      const truth = holds(one)
      if (truth === undefined) return OPEN
      if (truth === wanted) return wanted
    }
    return !wanted
  }
}

/** `all` with tests of the texts of a path, such as `code.all(matches('a') or matches('b'))`. */
function allTexts(target: Ast, criterion: Ast, typed: Typed): Read | undefined {
  const names = namesOf(target)
  const texts = names === undefined ? undefined : textsAt(names, typed)
  const holds = textCriterion(criterion)
  if (texts === undefined || holds === undefined) return undefined
  return (value) => {
    const found: string[] = []
    if (!texts(value, found) || found.some((text) => text.length > MAX_TEXT)) return OPEN
    return found.every(holds)
  }
}

/** Functions with a criterion on an empty collection. For items, only evaluating the criterion can decide. */
function ofNothing(name: string, target: Ast, typed: Typed): Read {
  const open = gap(typed)
  if (name !== 'all' && name !== 'exists') return open
  const count = compileCount(target, typed)
  return (value) => (count(value) === 0 ? name === 'all' : OPEN)
}

/** `iif`: only the chosen operand is evaluated. */
function eitherRead([criterion, chosen, other, ...more]: readonly Ast[], typed: Typed): Read {
  if (criterion === undefined || chosen === undefined || more.length > 0) return gap(typed)
  const [test, then] = [compileRead(criterion, typed), compileRead(chosen, typed)]
  const otherwise: Read = other === undefined ? () => EMPTY : compileRead(other, typed)
  return (value) => {
    const truth = truthOf(test(value))
    if (truth === OPEN) return OPEN
    return truth === true ? then(value) : otherwise(value)
  }
}

const DIGITS = /^\d{1,9}$/

function integerRead(input: Read): Read {
  return (value) => {
    const text = input(value)
    return typeof text === 'string' && DIGITS.test(text) ? Number(text) : OPEN
  }
}

/** Maximum length of a text. Longer ones may take more steps than an evaluation has. */
const MAX_TEXT = 1_000

function textRead(holds: TextTest | undefined, input: Read): Read | undefined {
  if (holds === undefined) return undefined
  return (value) => {
    const text = input(value)
    if (text === EMPTY) return EMPTY
    if (typeof text !== 'string' || text.length > MAX_TEXT) return OPEN
    return holds(text)
  }
}

/** Whether all texts at a path are different. */
function distinctRead(target: Ast, typed: Typed): Read {
  const names = namesOf(target)
  const texts = names === undefined ? selectedTexts(target, typed) : textsAt(names, typed)
  if (texts === undefined) return gap(typed)
  return (value) => {
    const found: string[] = []
    return texts(value, found) ? new Set(found).size === found.length : OPEN
  }
}

/** The texts that `select` makes of the objects of a path, each of one expression. */
function selectedTexts(ast: Ast, typed: Typed): Texts | undefined {
  const [projection, ...others] = ast.kind === 'call' && ast.name === 'select' ? ast.args : []
  if (ast.kind !== 'call' || ast.target === undefined || projection === undefined || others.length > 0) return undefined
  const items = itemsAt(ast.target, typed, criterionIn(typed))
  if (items === undefined) return undefined
  const read = readIn(typed, items.type, (own) => compileRead(projection, own))
  return (value, into) => {
    const found: JsonObject[] = []
    if (!items.addTo(value, found)) return false
    for (const one of found) {
      const text = read(one)
      if (typeof text === 'string') into.push(text)
      else if (text !== EMPTY) return false
    }
    return true
  }
}

function presenceRead(target: Ast, { isWanted }: { readonly isWanted: boolean }, typed: Typed): Read {
  return countRead(compilePresence(target, typed), (number) => number > 0 === isWanted)
}

function countRead(count: Count, read: (count: number) => Value): Read {
  return (value) => {
    const number = count(value)
    return number === undefined ? OPEN : read(number)
  }
}

/** `hasValue()` of an element: true for a primitive value of the right JSON type, false if the element is absent. */
function valued(target: Ast, typed: Typed): Read {
  const [name = '', ...rest] = namesOf(target) ?? []
  const slot = rest.length === 0 ? onlySlot(typed.type, name) : undefined
  if (slot === undefined || slot.isCollection || typed.model.type(slot.type)?.kind !== 'primitive') return gap(typed)
  return (value) => {
    const member = value[slot.jsonName]
    if (typeof member === 'string' || typeof member === 'boolean' || typeof member === 'number') return true
    return member === undefined && value[slot.siblingName] === undefined ? false : OPEN
  }
}

function compileCount(ast: Ast, typed: Typed): Count {
  const names = namesOf(ast)
  if (names !== undefined) return countAt(names, typed)
  gap(typed)
  const among = ast.kind === 'call' && SELECTIONS.has(ast.name) ? ast.target : undefined
  const count = among && compileCount(among, typed)
  return (value) => (count?.(value) === 0 ? 0 : undefined)
}

/** Like `compileCount`, when only the difference between zero and more matters. */
function compilePresence(ast: Ast, typed: Typed): Count {
  return (namesOf(ast) === undefined ? (countOfItems(ast, typed) ?? countWithin(ast, typed)) : undefined) ?? compileCount(ast, typed)
}

function countOfItems(ast: Ast, typed: Typed): Count | undefined {
  const items = itemsAt(ast, typed, criterionIn(typed))
  if (items === undefined) return undefined
  return (value) => {
    const found: JsonObject[] = []
    return items.addTo(value, found) ? found.length : undefined
  }
}

/** The count of an element in all objects of a path. */
function countWithin(ast: Ast, typed: Typed): Count | undefined {
  if (ast.kind !== 'member' || ast.target === undefined) return undefined
  const items = itemsAt(ast.target, typed, criterionIn(typed))
  const count = items && countAt([ast.name], { model: typed.model, type: items.type })
  if (items === undefined || count === undefined) return undefined
  return (value) => {
    const found: JsonObject[] = []
    return items.addTo(value, found) ? sumOf(found, count) : undefined
  }
}

function sumOf(items: readonly JsonObject[], count: Count): number | undefined {
  let total = 0
  for (const item of items) {
    const own = count(item)
    if (own === undefined) return undefined
    total += own
  }
  return total
}

/** Functions that return the empty collection for the empty collection. */
const SELECTIONS: ReadonlySet<string> = new Set(['where', 'select', 'ofType', 'first', 'last', 'tail', 'distinct'])

function binaryRead({ operator, left, right }: Ast & { kind: 'binary' }, typed: Typed): Read {
  const first = compileRead(left, typed)
  const logic = LOGIC.get(operator)
  if (logic !== undefined) return logic(first, compileRead(right, typed))
  if (operator === 'in') return among(first, right, typed)
  if (operator === '+') return added(first, compileRead(right, typed))
  if (operator === '&') return joined(first, compileRead(right, typed))
  if (operator === '<=' && isDated(left, typed) && isDated(right, typed)) return inOrder(left.name, right.name)
  const compare = COMPARISONS.get(operator)
  return compare === undefined ? gap(typed) : compared(first, compileRead(right, typed), compare)
}

type MemberAst = Ast & { readonly kind: 'member' }

function isDated(ast: Ast, { model, type }: Typed): ast is MemberAst {
  const slot = ast.kind === 'member' && ast.target === undefined ? onlySlot(type, ast.name) : undefined
  return slot !== undefined && !slot.isCollection && model.type(slot.type)?.system === 'DateTime'
}

function among(element: Read, list: Ast, typed: Typed): Read {
  const texts = textsIn(list)
  if (texts === undefined) return gap(typed)
  return (value) => {
    const one = element(value)
    return typeof one === 'string' ? texts.includes(one) : one === EMPTY ? EMPTY : OPEN
  }
}

function textsIn(ast: Ast): readonly string[] | undefined {
  if (ast.kind === 'literal') return ast.literal.type === 'string' ? [ast.literal.text] : undefined
  if (ast.kind !== 'binary' || ast.operator !== '|') return undefined
  const [left, right] = [textsIn(ast.left), textsIn(ast.right)]
  return left && right && [...left, ...right]
}
