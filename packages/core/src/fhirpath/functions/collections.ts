import { codeOfItems, codeOfTruth, innerScope, spend, type Code, type Scope } from '../code.js'
import { distinct, itemSet } from '../comparison.js'
import { NOTHING, isNode, toSystem, type Item, type Items } from '../item.js'
import { evaluationProblem, budgetProblem } from '../problem.js'
import { eachItem, integerArgument, itemsFunction, singleItem, someItem, truthFunction, type FunctionDefinition } from './definition.js'
import { countAllChildren, pushAllChildren, type FhirNode } from '../node.js'

/** Functions on the existence of items. @see https://hl7.org/fhirpath/N1/#existence */
export const EXISTENCE_FUNCTIONS: readonly FunctionDefinition[] = [
  { name: 'empty', arity: [0, 0], compile: ({ input }) => codeOfTruth((scope) => input.count(scope) === 0) },
  {
    name: 'exists',
    arity: [0, 1],
    compile: ({ input, args: [criteria] }) =>
      codeOfTruth(
        criteria === undefined
          ? (scope) => input.count(scope) > 0
          : (scope) => someItem(scope, input, (inner) => criteria.truth(inner) === true),
      ),
  },
  {
    name: 'all',
    arity: [1, 1],
    compile: ({ input, args: [criteria] }) => codeOfTruth((scope) => !someItem(scope, input, (inner) => criteria?.truth(inner) !== true)),
  },
  { name: 'not', arity: [0, 0], compile: ({ input }) => codeOfTruth((scope) => negation(input, scope)) },
  { name: 'count', arity: [0, 0], compile: ({ input }) => ({ ...codeOfItems((scope) => [input.count(scope)]), count: () => 1 }) },
  truthFunction('allTrue', [0, 0], (input) => truths(input).every((truth) => truth)),
  truthFunction('anyTrue', [0, 0], (input) => truths(input).includes(true)),
  truthFunction('allFalse', [0, 0], (input) => truths(input).every((truth) => !truth)),
  truthFunction('anyFalse', [0, 0], (input) => truths(input).includes(false)),
  truthFunction('subsetOf', [1, 1], (input, [other = []], scope) => isSubset(scope, input, other)),
  truthFunction('supersetOf', [1, 1], (input, [other = []], scope) => isSubset(scope, other, input)),
  itemsFunction('distinct', [0, 0], (input, _, scope) => distinct(scope.run, input)),
  truthFunction('isDistinct', [0, 0], (input, _, scope) => distinct(scope.run, input).length === input.length),
]

function negation(input: Code, scope: Scope): boolean | undefined {
  const truth = input.truth(scope)
  return truth === undefined ? undefined : !truth
}

function truths(items: Items): readonly boolean[] {
  return items.map((item) => {
    const value = toSystem(item)
    if (typeof value !== 'boolean') throw evaluationProblem('only Booleans can be all or any true')
    return value
  })
}

function isSubset(scope: Scope, items: Items, of: Items): boolean {
  const set = itemSet(scope.run, of)
  return items.every((item) => set.has(item))
}

/** Functions that filter and project. @see https://hl7.org/fhirpath/N1/#filtering-and-projection */
export const FILTERING_FUNCTIONS: readonly FunctionDefinition[] = [
  { name: 'where', arity: [1, 1], compile: ({ input, args: [criteria] }) => where(input, criteria) },
  { name: 'select', arity: [1, 1], compile: ({ input, args: [projection] }) => select(input, projection) },
  { name: 'repeat', arity: [1, 1], compile: ({ input, args: [projection] }) => codeOfItems((scope) => repeat(scope, input, projection)) },
  {
    name: 'aggregate',
    arity: [1, 2],
    compile: ({ input, args: [step, start] }) => codeOfItems((scope) => aggregate(scope, input, { step, start })),
  },
]

function where(input: Code, criteria: Code | undefined): Code {
  return codeOfItems((scope) => {
    const kept: Item[] = []
    eachItem(scope, input, (inner, item) => {
      if (criteria?.truth(inner) === true) kept.push(item)
    })
    return kept
  })
}

function select(input: Code, projection: Code | undefined): Code {
  return codeOfItems((scope) => {
    const into: Item[] = []
    eachItem(scope, input, (inner) => pushAll(scope, into, projection?.items(inner) ?? NOTHING))
    return into
  })
}

/** Applies the projection to its own results until it finds nothing new. */
function repeat(scope: Scope, input: Code, projection: Code | undefined): Items {
  const found: Item[] = []
  const known = itemSet(scope.run)
  const inner = innerScope(scope)
  let round: Items = input.items(scope)
  while (round.length > 0 && projection !== undefined) {
    round = round.flatMap((item) => {
      inner.focus = [item]
      return projection.items(inner).filter((result) => known.add(result))
    })
    pushAll(scope, found, round)
  }
  return found
}

function aggregate(scope: Scope, input: Code, { step, start }: { step: Code | undefined; start: Code | undefined }): Items {
  let total: Items = start?.items(scope) ?? NOTHING
  eachItem(scope, input, (inner) => {
    inner.total = total
    total = step?.items(inner) ?? NOTHING
  })
  return total
}

function pushAll(scope: Scope, into: Item[], items: Items): void {
  spend(scope.run, items.length)
  for (const item of items) into.push(item)
}

/** Functions that return a part of a collection, or combine two. @see https://hl7.org/fhirpath/N1/#subsetting */
export const SUBSETTING_FUNCTIONS: readonly FunctionDefinition[] = [
  itemsFunction('first', [0, 0], (input) => input.slice(0, 1)),
  itemsFunction('last', [0, 0], (input) => input.slice(-1)),
  itemsFunction('tail', [0, 0], (input) => input.slice(1)),
  itemsFunction('skip', [1, 1], (input, [count]) => {
    const skipped = integerArgument('skip', count)
    return skipped === undefined ? NOTHING : input.slice(Math.max(0, skipped))
  }),
  itemsFunction('take', [1, 1], (input, [count]) => input.slice(0, Math.max(0, integerArgument('take', count) ?? 0))),
  itemsFunction('single', [0, 0], (input) => {
    singleItem('single', input)
    return input
  }),
  itemsFunction('intersect', [1, 1], (input, [other = NOTHING], scope) => {
    const set = itemSet(scope.run, other)
    return distinct(
      scope.run,
      input.filter((item) => set.has(item)),
    )
  }),
  itemsFunction('exclude', [1, 1], (input, [other = NOTHING], scope) => {
    const set = itemSet(scope.run, other)
    return input.filter((item) => !set.has(item))
  }),
  itemsFunction('union', [1, 1], (input, [other = NOTHING], scope) => distinct(scope.run, [...input, ...other])),
  itemsFunction('combine', [1, 1], (input, [other = NOTHING]) => [...input, ...other]),
]

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
