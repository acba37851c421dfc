import { codeOfItems, type Code, innerScope, spend, type Scope } from '../code.js'
import { itemSet } from '../item-set.js'
import { NOTHING, type Item, type Items } from '../item.js'
import type { FunctionDefinition } from './definition.js'
import { eachItem } from './iteration.js'

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

/** Applies the projection to its own results until nothing new comes. */
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
