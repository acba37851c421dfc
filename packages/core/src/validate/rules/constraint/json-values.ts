import type { JsonObject } from '../../../json/index.js'

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
