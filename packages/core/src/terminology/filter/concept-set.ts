import { OperationError } from '../../errors/index.js'
import { bitmapFrom, type Bitmap } from '../bitmap.js'
import type { CodeSystemProvider, ConceptIndex } from '../code-system/provider.js'

/** Some concepts of one code system. Asking for one concept does not list them. */
export interface ConceptSet {
  readonly has: (concept: number) => boolean
  /** @throws {OperationError} `not-supported` when the system's codes cannot be listed. */
  readonly all: () => Bitmap
}

/** A set that is known by a test alone; listed by trying every concept. */
export function testedSet(provider: CodeSystemProvider, has: (concept: number) => boolean): ConceptSet {
  return {
    has,
    all: () => {
      const { size } = listable(provider)
      return bitmapFrom(tried(size, has), size)
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

function* tried(size: number, accept: (concept: number) => boolean): Generator<number> {
  for (let concept = 0; concept < size; concept++) if (accept(concept)) yield concept
}
