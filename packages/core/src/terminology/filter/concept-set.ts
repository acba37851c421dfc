import type { OperationError } from '../../errors/index.js'
import { andNot, testedBitmap, type Bitmap } from '../../bits/index.js'
import type { CodeSystemProvider, ConceptIndex, ConceptSet, Filter } from '../../code-system/index.js'
import type { compileRegex } from '../../regex/index.js'
import { refusal } from '../messages.js'

/** Creates a set that can be listed in one step. */
export function readySet(has: ConceptSet['has'], all: () => Bitmap): ConceptSet {
  return {
    has,
    *all() {
      return all()
    },
  }
}

/** Creates a set that is defined by a test; it is listed by testing every concept. */
export function testedSet(provider: CodeSystemProvider, has: (concept: number) => boolean): ConceptSet {
  return { has, all: () => testedBitmap(listable(provider).size, has) }
}

/** Creates the complement of a set. */
export function othersThan(provider: CodeSystemProvider, set: ConceptSet): ConceptSet {
  return {
    has: (concept) => !set.has(concept),
    *all() {
      return andNot(listable(provider).all(), yield* set.all())
    },
  }
}

/** Returns the index of a system. @throws {OperationError} `not-supported` when its codes cannot be listed. */
export function listable(provider: CodeSystemProvider): ConceptIndex {
  if (provider.index !== undefined) return provider.index
  throw cannotBeListed(provider.header.url)
}

/** Creates the error for a code system whose codes cannot be listed. */
export function cannotBeListed(url: string): OperationError {
  return refusal('CODESYSTEM_NOT_ENUMERABLE', { system: url })
}

/** A filter of a planned value set. */
export interface PlannedFilter extends Filter {
  /** Compiles the pattern of a `regex` filter. Few value sets have one, so its code is loaded when one is planned. */
  readonly compile?: typeof compileRegex
}

/**
 * Selects the concepts that satisfy a filter.
 *
 * @returns `undefined` when the operator cannot be used with the property.
 */
export type FilterOperator = (provider: CodeSystemProvider, filter: PlannedFilter) => ConceptSet | undefined
