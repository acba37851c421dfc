import type { Ast } from '../../../fhirpath/index.js'
import type { JsonObject } from '../../../json/index.js'
import { compileRegex } from '../../../regex/index.js'

/** FHIRPath's empty collection. */
export const EMPTY: unique symbol = Symbol('empty')
/** A result that JSON alone cannot determine. */
export const OPEN: unique symbol = Symbol('open')

/** A single value, the empty collection, or a result that cannot be determined here. */
export type Value = string | number | boolean | typeof EMPTY | typeof OPEN
/** Computes the result of an expression for a value. */
export type Read = (value: JsonObject) => Value

/** `not()`. */
export function negated(operand: Read): Read {
  return (value) => {
    const truth = operand(value)
    return typeof truth === 'boolean' ? !truth : truth === EMPTY ? EMPTY : OPEN
  }
}

/** A truth value or `EMPTY`; `OPEN` for all others, which are left to FHIRPath. */
export function truthOf(value: Value): boolean | typeof EMPTY | typeof OPEN {
  return typeof value === 'boolean' || value === EMPTY ? value : OPEN
}

/** Creates an operator that does not evaluate the second operand if the first decides. */
function connective(
  decides: (first: boolean | typeof EMPTY) => boolean | undefined,
  combine: (first: boolean | typeof EMPTY, second: boolean | typeof EMPTY) => Value,
) {
  return (left: Read, right: Read): Read =>
    (value) => {
      const first = truthOf(left(value))
      if (first === OPEN) return OPEN
      const decided = decides(first)
      if (decided !== undefined) return decided
      const second = truthOf(right(value))
      return second === OPEN ? OPEN : combine(first, second)
    }
}

const either = (first: boolean | typeof EMPTY, second: boolean | typeof EMPTY): Value =>
  second === true ? true : first === EMPTY ? EMPTY : second

/** The logical operators of FHIRPath. */
export const LOGIC: ReadonlyMap<string, (left: Read, right: Read) => Read> = new Map([
  [
    'and',
    connective(
      (first) => (first === false ? false : undefined),
      (first, second) => (second === false ? false : first === EMPTY ? EMPTY : second),
    ),
  ],
  ['or', connective((first) => (first === true ? true : undefined), either)],
  ['implies', connective((first) => (first === false ? true : undefined), either)],
  [
    'xor',
    connective(
      () => undefined,
      (first, second) => (first === EMPTY || second === EMPTY ? EMPTY : first !== second),
    ),
  ],
])

type Scalar = string | number | boolean

/** Comparisons of two values of one kind, by operator. */
export const COMPARISONS: ReadonlyMap<string, (left: Scalar, right: Scalar) => boolean> = new Map([
  ['=', (left: Scalar, right: Scalar) => left === right],
  ['!=', (left: Scalar, right: Scalar) => left !== right],
  ['<=', (left: Scalar, right: Scalar) => left <= right],
  ['>=', (left: Scalar, right: Scalar) => left >= right],
  ['<', (left: Scalar, right: Scalar) => left < right],
  ['>', (left: Scalar, right: Scalar) => left > right],
])

/** Compares values of one kind. The order of texts is left to FHIRPath, because they may be dates. */
export function compared(left: Read, right: Read, compare: (left: Scalar, right: Scalar) => boolean): Read {
  const isEquality = compare === COMPARISONS.get('=') || compare === COMPARISONS.get('!=')
  return (value) => {
    const first = left(value)
    const second = right(value)
    if (first === OPEN || second === OPEN) return OPEN
    if (first === EMPTY || second === EMPTY) return EMPTY
    return typeof first === typeof second && (isEquality || typeof first === 'number') ? compare(first, second) : OPEN
  }
}

const MOMENT = /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?)?)?$/
const BEFORE_ZONE = 19

/** Compares the dates in two members by their texts, if they have the same precision and time zone. */
export function inOrder(left: string, right: string): Read {
  return ({ [left]: first, [right]: second }) => {
    if (typeof first !== 'string' || typeof second !== 'string' || first.length !== second.length) return OPEN
    const isAlike = MOMENT.test(first) && MOMENT.test(second) && first.slice(BEFORE_ZONE) === second.slice(BEFORE_ZONE)
    return isAlike && first <= second ? true : OPEN
  }
}

/** The sum of two numbers. */
export function added(left: Read, right: Read): Read {
  return (value) => {
    const first = left(value)
    const second = right(value)
    return typeof first === 'number' && typeof second === 'number' ? first + second : OPEN
  }
}

/** Two texts, one after the other; one that is empty counts as a text without characters. */
export function joined(left: Read, right: Read): Read {
  return (value) => {
    const [first, second] = [textOf(left(value)), textOf(right(value))]
    return first === undefined || second === undefined ? OPEN : first + second
  }
}

function textOf(value: Value): string | undefined {
  if (value === EMPTY) return ''
  return typeof value === 'string' ? value : undefined
}

/** A test of a text. */
export type TextTest = (text: string) => boolean

/** Creates the test of a function of FHIRPath on texts, by its name, from its argument. */
export const TEXT_TESTS: ReadonlyMap<string, (argument: string) => TextTest> = new Map([
  ['startsWith', (start: string) => (text: string) => text.startsWith(start)],
  ['contains', (part: string) => (text: string) => text.includes(part)],
  [
    'matches',
    (pattern: string) => {
      const regex = compileRegex(pattern, { dotAll: true })
      return (text: string) => regex.test(text)
    },
  ],
])

/** The test that a call of such a function with a literal argument makes; `undefined` for other calls. */
export function textTest(name: string, [argument, ...others]: readonly Ast[]): TextTest | undefined {
  if (argument?.kind !== 'literal' || argument.literal.type !== 'string' || others.length > 0) return undefined
  return TEXT_TESTS.get(name)?.(argument.literal.text)
}

/** A test of the text itself, or several joined by `or`. */
export function textCriterion(ast: Ast): TextTest | undefined {
  if (ast.kind === 'binary' && ast.operator === 'or') {
    const [left, right] = [textCriterion(ast.left), textCriterion(ast.right)]
    return left && right && ((text) => left(text) || right(text))
  }
  return ast.kind === 'call' && ast.target === undefined ? textTest(ast.name, ast.args) : undefined
}
