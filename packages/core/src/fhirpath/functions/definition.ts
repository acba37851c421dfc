import type { TypeSpecifier } from '../ast.js'
import { codeOfItems, codeOfTruth, innerScope, spend, type Code, type Scope } from '../code.js'
import { NOTHING, type Item, type Items, type SystemValue } from '../item.js'
import type { TypeModel } from '../model.js'
import { evaluationProblem } from '../problem.js'
import { systemTypeOf, toSystem } from '../to-system.js'

/** A call to compile: what the function is applied to, and its arguments. */
export interface Call {
  readonly input: Code
  readonly args: readonly Code[]
  readonly model: TypeModel
  /** The argument of a function that takes a type. */
  readonly type?: TypeSpecifier
}

/** A function of the language. */
export interface FunctionDefinition {
  readonly name: string
  /** Least and most arguments. */
  readonly arity: readonly [least: number, most: number]
  /** The one argument names a type and is not evaluated. */
  readonly takesType?: true
  readonly compile: (call: Call) => Code
}

/** What a function of collections does. */
type Apply<T> = (input: Items, args: readonly Items[], scope: Scope) => T

/** Evaluates the input and then the arguments, in the scope of the call, and applies the function to them. */
function applying<T>(apply: Apply<T>, { input, args }: Call): (scope: Scope) => T {
  return (scope) => {
    const items = input.items(scope)
    spend(scope.run, items.length + 1)
    const values = args.map((arg) => arg.items(scope))
    return apply(items, values, scope)
  }
}

/** A function from collections to a collection. */
export function itemsFunction(name: string, arity: FunctionDefinition['arity'], apply: Apply<Items>): FunctionDefinition {
  return { name, arity, compile: (call) => codeOfItems(applying(apply, call)) }
}

/** A function from collections to a truth. */
export function truthFunction(name: string, arity: FunctionDefinition['arity'], apply: Apply<boolean | undefined>): FunctionDefinition {
  return { name, arity, compile: (call) => codeOfTruth(applying(apply, call)) }
}

/** A function from one value to at most one value; empty for empty input. */
export function valueFunction(
  name: string,
  arity: FunctionDefinition['arity'],
  apply: (value: SystemValue, args: readonly Items[], scope: Scope) => SystemValue | undefined,
): FunctionDefinition {
  return itemsFunction(name, arity, (input, args, scope) => {
    const value = singleValue(name, input)
    const result = value === undefined ? undefined : apply(value, args, scope)
    if (typeof result === 'string') spend(scope.run, result.length >> 3)
    return result === undefined ? NOTHING : [result]
  })
}

/** A function from one text to at most one value; empty for empty input. */
export function textFunction(
  name: string,
  arity: FunctionDefinition['arity'],
  apply: (text: string, args: readonly Items[], scope: Scope) => SystemValue | undefined,
): FunctionDefinition {
  return valueFunction(name, arity, (value, args, scope) => {
    if (typeof value !== 'string') throw evaluationProblem(`${name}() applies to text, not to ${systemTypeOf(value)}`)
    return apply(value, args, scope)
  })
}

/** The only item of a collection; `undefined` for an empty one. @throws {OperationError} `fhirpath-invalid` for several. */
export function singleItem(name: string, items: Items): Item | undefined {
  if (items.length > 1) throw evaluationProblem(`${name}() needs one item where there are ${items.length}`)
  return items[0]
}

/** The only value of a collection. @throws {OperationError} `fhirpath-invalid` for several items, or one without a value. */
export function singleValue(name: string, items: Items): SystemValue | undefined {
  const item = singleItem(name, items)
  if (item === undefined) return undefined
  const value = toSystem(item)
  if (value !== undefined) return value
  if (typeof item === 'object' && item.kind === 'node' && item.type.kind === 'primitive') return undefined
  throw evaluationProblem(`${name}() needs a value, not a structure`)
}

/** An argument that is text; `undefined` when it is empty. @throws {OperationError} `fhirpath-invalid` for anything else. */
export function textArgument(name: string, items: Items | undefined): string | undefined {
  const value = singleValue(name, items ?? NOTHING)
  if (value === undefined || typeof value === 'string') return value
  throw evaluationProblem(`${name}() takes text, not ${systemTypeOf(value)}`)
}

/** An argument that is an Integer; `undefined` when it is empty. @throws {OperationError} `fhirpath-invalid` for anything else. */
export function integerArgument(name: string, items: Items | undefined): number | undefined {
  const value = singleValue(name, items ?? NOTHING)
  if (value === undefined || typeof value === 'number') return value
  throw evaluationProblem(`${name}() takes an Integer, not ${systemTypeOf(value)}`)
}

/** Whether `test` holds for some item of the input; in its scope `$this` is the item and `$index` its position. */
export function someItem(scope: Scope, input: Code, test: (inner: Scope) => boolean): boolean {
  const items = input.items(scope)
  if (items.length === 0) return false
  spend(scope.run, items.length)
  const inner = innerScope(scope)
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    if (item === undefined) continue
    enter(scope, inner, { item, index: i })
    if (test(inner)) return true
  }
  return false
}

/** Calls `visit` for each item of the input, in order. */
export function eachItem(scope: Scope, input: Code, visit: (inner: Scope, item: Item) => void): void {
  const items = input.items(scope)
  if (items.length === 0) return
  spend(scope.run, items.length)
  const inner = innerScope(scope)
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    if (item === undefined) continue
    enter(scope, inner, { item, index: i })
    visit(inner, item)
  }
}

function enter(scope: Scope, inner: Scope, { item, index }: { item: Item; index: number }): void {
  inner.focus = [item]
  inner.index = index
  inner.variables = scope.variables
}
