import { codeOfItems, spend, type Scope } from '../code.js'
import { isNode, type Items } from '../item.js'
import { countAllChildren, pushAllChildren, type FhirNode } from '../node.js'
import { budgetProblem } from '../problem.js'
import type { FunctionDefinition } from './definition.js'

const MAX_DEPTH = 128

/** Functions that navigate the tree. @see https://hl7.org/fhirpath/N1/#tree-navigation */
export const TREE_FUNCTIONS: readonly FunctionDefinition[] = [
  {
    name: 'children',
    arity: [0, 0],
    compile: ({ input }) => ({
      ...codeOfItems((scope) => childrenOf(scope, input.items(scope))),
      count: (scope) => countChildrenOf(scope, input.items(scope)),
    }),
  },
  { name: 'descendants', arity: [0, 0], compile: ({ input }) => codeOfItems((scope) => descendantsOf(scope, input.items(scope))) },
]

function childrenOf(scope: Scope, items: Items): Items {
  const into: FhirNode[] = []
  for (const item of items) if (isNode(item)) pushAllChildren(scope.run.model, item, into)
  spend(scope.run, items.length + into.length)
  return into
}

function countChildrenOf(scope: Scope, items: Items): number {
  let count = 0
  for (const item of items) if (isNode(item)) count += countAllChildren(scope.run.model, item)
  spend(scope.run, items.length)
  return count
}

function descendantsOf(scope: Scope, items: Items): Items {
  const into: FhirNode[] = []
  for (const item of items) if (isNode(item)) pushDescendants(scope, item, { into, depth: 0 })
  return into
}

/** Adds parents before their children, in document order. */
function pushDescendants(scope: Scope, node: FhirNode, { into, depth }: { into: FhirNode[]; depth: number }): void {
  if (depth > MAX_DEPTH) throw budgetProblem(`${MAX_DEPTH} levels of elements`)
  const children: FhirNode[] = []
  pushAllChildren(scope.run.model, node, children)
  spend(scope.run, children.length + 1)
  for (const child of children) {
    into.push(child)
    pushDescendants(scope, child, { into, depth: depth + 1 })
  }
}
