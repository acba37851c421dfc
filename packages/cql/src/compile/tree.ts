import { textAt } from '../elm/node.js'
import { elementNames, propertyOf } from '../model/property.js'
import { createValueIndex } from '../values/value-index.js'
import { isList, type Value } from '../values/value.js'
import type { Compiler, Evaluation, NodeCompiler, NodeCompilers } from './compiler.js'
import { forEachItem, requiredAt } from './operators.js'

/** Operators that walk a value without naming its elements (ELM, Children, Descendants, Repeat). Null for null. */
export const TREE: NodeCompilers = {
  Children: below((value, evaluation, compiler) => childrenOf(value, evaluation, compiler)),
  Descendents: below(descendantsOf),
  Descendants: below(descendantsOf),
  Repeat: (node, scope, compiler) => {
    const slot = compiler.slot()
    const source = compiler.compile(requiredAt(node, 'source'), scope)
    const aliases = new Map([...scope.aliases, [textAt(node, 'scope') ?? '$this', slot]])
    const [element, steps] = forEachItem(compiler, () =>
      compiler.compile(requiredAt(node, 'element'), { ...scope, aliases, current: slot }),
    )
    return (evaluation) => {
      const value = source(evaluation)
      if (value === null) return null
      const seen = createValueIndex([], compiler.convert, evaluation.spend)
      const found: Value[] = []
      const add = (item: Value): void => {
        evaluation.spend(steps)
        evaluation.slots[slot] = item
        found.push(...itemsOf(element(evaluation)).filter((one) => seen.add(one) === 1))
      }
      for (const item of itemsOf(value)) add(item)
      for (let index = 0; index < found.length; index++) add(found[index] ?? null)
      return found
    }
  },
}

function below(find: (value: Value, evaluation: Evaluation, compiler: Compiler) => readonly Value[]): NodeCompiler {
  return (node, scope, compiler) => {
    const source = compiler.compile(requiredAt(node, 'source'), scope)
    return (evaluation) => {
      const value = source(evaluation)
      return value === null ? null : find(value, evaluation, compiler)
    }
  }
}

/** The values of a value's elements, for a list those of all items; nulls are left out. */
function childrenOf(value: Value, evaluation: Evaluation, compiler: Compiler): readonly Value[] {
  return itemsOf(value).flatMap((item) => {
    const names = elementNames(item)
    evaluation.spend(1 + names.length)
    return names.flatMap((name) => itemsOf(propertyOf(item, name, compiler.model, compiler.offset)))
  })
}

/** Children and all their descendants, each before its own children. */
function descendantsOf(value: Value, evaluation: Evaluation, compiler: Compiler): readonly Value[] {
  const found: Value[] = []
  const waiting = childrenOf(value, evaluation, compiler).toReversed()
  for (;;) {
    const next = waiting.pop()
    if (next === undefined) return found
    found.push(next)
    waiting.push(...childrenOf(next, evaluation, compiler).toReversed())
  }
}

/** The items of a list that are not null; a value that is not a list counts as its only item. */
function itemsOf(value: Value): readonly Value[] {
  return (isList(value) ? value : [value]).filter((item) => item !== null)
}
