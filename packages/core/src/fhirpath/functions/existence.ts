import { codeOfItems, codeOfTruth, type Code, type Scope } from '../code.js'
import { distinct, itemSet } from '../item-set.js'
import type { Items } from '../item.js'
import { evaluationProblem } from '../problem.js'
import { toSystem } from '../to-system.js'
import { itemsFunction, truthFunction, type FunctionDefinition } from './definition.js'
import { someItem } from './iteration.js'

/** Functions about the existence of items. @see https://hl7.org/fhirpath/N1/#existence */
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
