import type { Definition } from '../../content/index.js'
import { cached, type Cache, type CacheKind } from '../../context/index.js'
import { readValueSet, type ValueSetDefinition } from './value-set.js'

const BYTES_PER_CODE = 200

/** What a ValueSet defines; read once for each stored version. */
export function definedValueSet(cache: Cache, definition: Definition): ValueSetDefinition {
  return cached(cache, KIND, definition).valueSet
}

interface CachedValueSet {
  readonly kind: 'value-set'
  readonly valueSet: ValueSetDefinition
}

const KIND: CacheKind<CachedValueSet> = {
  name: 'value-set',
  is: (value): value is CachedValueSet => 'kind' in value && value.kind === 'value-set',
  bytes: ({ valueSet }) => 1_000 + valueSet.includes.reduce((sum, { concepts }) => sum + (concepts?.length ?? 0), 0) * BYTES_PER_CODE,
  make: ({ resource }) => ({ kind: 'value-set', valueSet: readValueSet(resource) }),
}
