import type { TypeSpecifier } from '../parser.js'
import { codeOfItems, codeOfTruth, innerScope, spend, spendReading, spendWriting, type Code, type Scope } from '../code.js'
import { NOTHING, systemTypeOf, toSystem, type Item, type Items, type SystemValue } from '../item.js'
import type { TypeModel } from '../model.js'
import { evaluationProblem } from '../problem.js'

/** A call to compile: the input of the function and its arguments. */
export interface Call {
  readonly input: Code
  readonly args: readonly Code[]
  readonly model: TypeModel
  /** The argument of a function that takes a type. */
  readonly type?: TypeSpecifier
}

/** A FHIRPath function. */
export interface FunctionDefinition {
  readonly name: string
  /** Minimum and maximum number of arguments. */
  readonly arity: readonly [least: number, most: number]
  /** True if its only argument names a type and is not evaluated. */
  readonly takesType?: true
  readonly compile: (call: Call) => Code
}

/** Implementation of a function on collections. */
type Apply<T> = (input: Items, args: readonly Items[], scope: Scope) => T

/** Creates code that evaluates the input and then the arguments, in the scope of the call, and applies the function to them. */
function applying<T>(apply: Apply<T>, { input, args }: Call): (scope: Scope) => T {
  return (scope) => {
    const items = input.items(scope)
    spend(scope.run, items.length + 1)
    const values = args.map((arg) => arg.items(scope))
    return apply(items, values, scope)
  }
}

/** Defines a function from collections to a collection. */
export function itemsFunction(name: string, arity: FunctionDefinition['arity'], apply: Apply<Items>): FunctionDefinition {
  return { name, arity, compile: (call) => codeOfItems(applying(apply, call)) }
}

/** Defines a function from collections to a truth value. */
export function truthFunction(name: string, arity: FunctionDefinition['arity'], apply: Apply<boolean | undefined>): FunctionDefinition {
  return { name, arity, compile: (call) => codeOfTruth(applying(apply, call)) }
}

/** Defines a function from one value to at most one value; empty for empty input. */
export function valueFunction(
  name: string,
  arity: FunctionDefinition['arity'],
  apply: (value: SystemValue, args: readonly Items[], scope: Scope) => SystemValue | undefined,
): FunctionDefinition {
  return itemsFunction(name, arity, (input, args, scope) => {
    const value = singleValue(name, input)
    if (typeof value === 'string') spendReading(scope.run, value.length)
    const result = value === undefined ? undefined : apply(value, args, scope)
    if (typeof result === 'string') spendWriting(scope.run, result.length)
    return result === undefined ? NOTHING : [result]
  })
}

/** Defines a function from one text to at most one value; empty for empty input. */
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

/** Returns the only item of a collection; `undefined` for an empty one. @throws {OperationError} `fhirpath-invalid` for several items. */
export function singleItem(name: string, items: Items): Item | undefined {
  if (items.length > 1) throw evaluationProblem(`${name}() needs one item where there are ${items.length}`)
  return items[0]
}

/** Returns the only value of a collection. @throws {OperationError} `fhirpath-invalid` for several items, or for a complex element. */
export function singleValue(name: string, items: Items): SystemValue | undefined {
  const item = singleItem(name, items)
  if (item === undefined) return undefined
  const value = toSystem(item)
  if (value !== undefined) return value
  if (typeof item === 'object' && item.kind === 'node' && item.type.kind === 'primitive') return undefined
  throw evaluationProblem(`${name}() needs a value, not a structure`)
}

/** Reads a text argument; `undefined` when it is empty. @throws {OperationError} `fhirpath-invalid` for any other value. */
export function textArgument(name: string, items: Items | undefined): string | undefined {
  const value = singleValue(name, items ?? NOTHING)
  if (value === undefined || typeof value === 'string') return value
  throw evaluationProblem(`${name}() takes text, not ${systemTypeOf(value)}`)
}

/** Reads an Integer argument; `undefined` when it is empty. @throws {OperationError} `fhirpath-invalid` for any other value. */
export function integerArgument(name: string, items: Items | undefined): number | undefined {
  const value = singleValue(name, items ?? NOTHING)
  if (value === undefined || typeof value === 'number') return value
  throw evaluationProblem(`${name}() takes an Integer, not ${systemTypeOf(value)}`)
}

/** True if `test` holds for any item of the input; in its scope, `$this` is the item and `$index` its position. */
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
