import { OperationError } from '../../errors/index.js'
import { andNot, testedBitmap, type Bitmap } from '../../bits/index.js'
import type { CodeSystemProvider, ConceptIndex, ConceptSet, Filter } from '../../code-system/index.js'

/** A set that can be listed in one go. */
export function readySet(has: ConceptSet['has'], all: () => Bitmap): ConceptSet {
  return {
    has,
    *all() {
      return all()
    },
  }
}

/** A set that is known by a test alone; listed by trying every concept. */
export function testedSet(provider: CodeSystemProvider, has: (concept: number) => boolean): ConceptSet {
  return { has, all: () => testedBitmap(listable(provider).size, has) }
}

/** Everything that is not in a set. */
export function othersThan(provider: CodeSystemProvider, set: ConceptSet): ConceptSet {
  return {
    has: (concept) => !set.has(concept),
    *all() {
      return andNot(listable(provider).all(), yield* set.all())
    },
  }
}

/** The index of a system. @throws {OperationError} `not-supported` when its codes cannot be listed. */
export function listable(provider: CodeSystemProvider): ConceptIndex {
  if (provider.index !== undefined) return provider.index
  throw cannotBeListed(provider.header.url)
}

/** The refusal to list the codes of a code system. */
export function cannotBeListed(url: string): OperationError {
  return new OperationError('not-supported', `The code system ${url} has a grammar, and its codes cannot be listed.`)
}

/**
 * Selects the concepts for which a filter holds.
 *
 * @returns `undefined` when the operator cannot be used with that property.
 */
export type FilterOperator = (provider: CodeSystemProvider, filter: Filter) => ConceptSet | undefined
