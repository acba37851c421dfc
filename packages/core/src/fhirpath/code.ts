import { isNode, itemsOfTruth, type Items } from './item.js'
import { evaluationProblem } from './problem.js'
import type { Scope } from './scope.js'

/**
 * A compiled expression in the three forms in which its result is asked for. `truth` and `count` spare the collection
 * where an expression can give them without making it.
 */
export interface Code {
  readonly items: (scope: Scope) => Items
  /** The result as a truth by singleton evaluation; `undefined` when it is empty. */
  readonly truth: (scope: Scope) => boolean | undefined
  readonly count: (scope: Scope) => number
}

/** Code whose other forms follow from its items. */
export function codeOfItems(items: (scope: Scope) => Items): Code {
  return { items, truth: (scope) => truthOf(items(scope)), count: (scope) => items(scope).length }
}

/** Code that gives a truth. */
export function codeOfTruth(truth: (scope: Scope) => boolean | undefined): Code {
  return { items: (scope) => itemsOfTruth(truth(scope)), truth, count: (scope) => (truth(scope) === undefined ? 0 : 1) }
}

/** Code whose result does not depend on anything. */
export function codeOfConstant(items: Items): Code {
  return codeOfItems(() => items)
}

/**
 * Singleton evaluation of a collection as Boolean: any single item that is not a boolean counts as true.
 *
 * @throws {OperationError} `fhirpath-invalid` for several items.
 * @see https://hl7.org/fhirpath/N1/#singleton-evaluation-of-collections
 */
function truthOf(items: Items): boolean | undefined {
  const [item] = items
  if (item === undefined) return undefined
  if (items.length > 1) throw evaluationProblem(`a single Boolean is needed, but there are ${items.length} items`)
  if (typeof item === 'boolean') return item
  return isNode(item) && typeof item.value === 'boolean' ? item.value : true
}
