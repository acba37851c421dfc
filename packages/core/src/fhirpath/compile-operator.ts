import { add, divide, divideWhole, modulo, multiply, negate, subtract } from './arithmetic.js'
import type { BinaryOperator } from './parser.js'
import { codeOfItems, codeOfTruth, type Code, spend, spendWriting, type Scope } from './code.js'
import { compareItems, equal1, equalItems, equivalentItems, distinct } from './comparison.js'
import { NOTHING, toSystem, type Items, type SystemValue } from './item.js'
import { evaluationProblem } from './problem.js'
import type { UnitConversion } from './quantity.js'

/** Compiles an operator between two operands. @see https://hl7.org/fhirpath/N1/#operations */
export function compileBinary(operator: BinaryOperator, left: Code, right: Code): Code {
  return OPERATORS[operator](left, right)
}

/** Compiles a sign before a number or quantity. */
export function compileSign(sign: '+' | '-', operand: Code): Code {
  return codeOfItems((scope) => {
    const value = operandOf(operand.items(scope), sign)
    return value === undefined ? NOTHING : [sign === '-' ? negate(value) : value]
  })
}

type Compile = (left: Code, right: Code) => Code
type Arithmetic = (left: SystemValue, right: SystemValue, convert: UnitConversion | undefined) => SystemValue | undefined

const OPERATORS: { readonly [operator in BinaryOperator]: Compile } = {
  '*': arithmetic('*', multiply),
  '/': arithmetic('/', divide),
  div: arithmetic('div', divideWhole),
  mod: arithmetic('mod', modulo),
  '+': arithmetic('+', add),
  '-': arithmetic('-', subtract),
  '&': concatenation,
  '|': union,
  '<': comparison((order) => order < 0),
  '<=': comparison((order) => order <= 0),
  '>': comparison((order) => order > 0),
  '>=': comparison((order) => order >= 0),
  '=': (left, right) => codeOfTruth((scope) => equality(scope, left, right)),
  '!=': (left, right) => codeOfTruth((scope) => not(equality(scope, left, right))),
  '~': (left, right) => codeOfTruth((scope) => equivalentItems(scope.run, left.items(scope), right.items(scope))),
  '!~': (left, right) => codeOfTruth((scope) => !equivalentItems(scope.run, left.items(scope), right.items(scope))),
  in: (left, right) => codeOfTruth((scope) => isMember(scope, left.items(scope), right.items(scope))),
  contains: (left, right) => codeOfTruth((scope) => isMember(scope, right.items(scope), left.items(scope))),
  and: conjunction,
  or: disjunction,
  xor: exclusion,
  implies: implication,
}

/** Returns the value of an operand, a collection of at most one item. */
function operandOf(items: Items, operator: string): SystemValue | undefined {
  if (items.length === 0) return undefined
  const value = toSystem(items[0])
  if (items.length > 1 || value === undefined) throw evaluationProblem(`'${operator}' needs one value on each side`)
  return value
}

function arithmetic(operator: string, compute: Arithmetic): Compile {
  return (left, right) =>
    codeOfItems((scope) => {
      const leftValue = operandOf(left.items(scope), operator)
      const rightValue = operandOf(right.items(scope), operator)
      if (leftValue === undefined || rightValue === undefined) return NOTHING
      const result = compute(leftValue, rightValue, scope.run.context.host?.convertUnit)
      if (typeof result === 'string') spendWriting(scope.run, result.length)
      return result === undefined ? NOTHING : [result]
    })
}

function concatenation(left: Code, right: Code): Code {
  return codeOfItems((scope) => {
    const first = operandOf(left.items(scope), '&') ?? ''
    const second = operandOf(right.items(scope), '&') ?? ''
    if (typeof first !== 'string' || typeof second !== 'string') throw evaluationProblem("'&' needs text on both sides")
    const text = first + second
    spendWriting(scope.run, text.length)
    return [text]
  })
}

function union(left: Code, right: Code): Code {
  return codeOfItems((scope) => {
    const first = left.items(scope)
    const second = right.items(scope)
    return distinct(scope.run, second.length === 0 ? first : [...first, ...second])
  })
}

function comparison(accepts: (order: number) => boolean): Compile {
  return (left, right) =>
    codeOfTruth((scope) => {
      const order = compareItems(scope.run, left.items(scope), right.items(scope))
      return order === undefined ? undefined : accepts(order)
    })
}

function equality(scope: Scope, left: Code, right: Code): boolean | undefined {
  const leftItems = left.items(scope)
  const rightItems = right.items(scope)
  spend(scope.run, leftItems.length)
  return equalItems(scope.run, leftItems, rightItems)
}

function not(truth: boolean | undefined): boolean | undefined {
  return truth === undefined ? undefined : !truth
}

function isMember(scope: Scope, element: Items, collection: Items): boolean | undefined {
  if (element.length === 0) return undefined
  if (element.length > 1) throw evaluationProblem(`membership needs a single item, but there are ${element.length}`)
  spend(scope.run, collection.length)
  return collection.some((item) => equal1(scope.run, element[0], item) === true)
}

function conjunction(left: Code, right: Code): Code {
  return codeOfTruth((scope) => {
    const first = left.truth(scope)
    if (first === false) return false
    const second = right.truth(scope)
    return second === false ? false : first === undefined ? undefined : second
  })
}

function disjunction(left: Code, right: Code): Code {
  return codeOfTruth((scope) => {
    const first = left.truth(scope)
    if (first === true) return true
    const second = right.truth(scope)
    return second === true ? true : first === undefined ? undefined : second
  })
}

function exclusion(left: Code, right: Code): Code {
  return codeOfTruth((scope) => {
    const first = left.truth(scope)
    const second = right.truth(scope)
    return first === undefined || second === undefined ? undefined : first !== second
  })
}

function implication(left: Code, right: Code): Code {
  return codeOfTruth((scope) => {
    const first = left.truth(scope)
    if (first === false) return true
    const second = right.truth(scope)
    return second === true ? true : first === undefined ? undefined : second
  })
}
