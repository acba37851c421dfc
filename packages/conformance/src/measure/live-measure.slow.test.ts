import { describe } from 'vitest'
import { contextOver, expectAgreement, rounds } from '../../../cql/test/ward.fixture.js'
import { holdsOverStorages } from './over-storages.js'

describe('a live measure counts what a new evaluation does, after whatever was written', () => {
  holdsOverStorages({
    values: rounds,
    check: (storage, all) => expectAgreement(contextOver(storage), all),
    runs: { memory: 10, sqlite: 5, postgres: 3 },
  })
})
