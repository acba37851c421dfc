import { type Code, innerScope, spend, type Scope } from '../code.js'
import type { Item } from '../item.js'

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
