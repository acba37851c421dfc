import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { tenantSessionStore, tenantStorage } from 'fhir-ops/tenants'
import { expect, it } from 'vitest'
import { sessionStoreContract, storageContract } from './index.js'

const SHARED = 'the storage belongs to all tenants: whoever opened it closes it'

storageContract('a tenant', ({ now }) => ({ storage: tenantStorage(memoryStorage([], { now }), 'acme') }), {
  'what was written is there after reopening': 'memory storage keeps nothing by design',
  'after close every method rejects with storage-unavailable': SHARED,
  'a revision, where there is one, rises with every write of a definition, stays over reads and is refused after close': SHARED,
})

sessionStoreContract('a tenant', () => ({ store: tenantSessionStore(memorySessionStore(), 'acme') }))

it.each(['', JSON.parse('null'), 'Acme', 'a.b', 'a b', 'a/b', '__proto__', 'x'.repeat(33)])('%j is not a name of a tenant', (name) => {
  expect(() => tenantStorage(memoryStorage(), name)).toThrow(TypeError)
  expect(() => tenantSessionStore(memorySessionStore(), name)).toThrow(TypeError)
})
