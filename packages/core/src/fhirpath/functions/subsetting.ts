import { distinct, itemSet } from '../item-set.js'
import { NOTHING, type Items } from '../item.js'
import { evaluationProblem } from '../problem.js'
import { integerArgument, itemsFunction, singleItem, type FunctionDefinition } from './definition.js'

/** Functions that take a part of a collection, and that combine two. @see https://hl7.org/fhirpath/N1/#subsetting */
export const SUBSETTING_FUNCTIONS: readonly FunctionDefinition[] = [
  itemsFunction('first', [0, 0], (input) => input.slice(0, 1)),
  itemsFunction('last', [0, 0], (input) => input.slice(-1)),
  itemsFunction('tail', [0, 0], (input) => input.slice(1)),
  itemsFunction('skip', [1, 1], (input, [count]) => input.slice(Math.max(0, amount('skip', count)))),
  itemsFunction('take', [1, 1], (input, [count]) => input.slice(0, Math.max(0, amount('take', count)))),
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

function amount(name: string, items: Items | undefined): number {
  const count = integerArgument(name, items)
  if (count === undefined) throw evaluationProblem(`${name}() needs a number`)
  return count
}
