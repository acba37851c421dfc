import { describe } from 'vitest'
import { contextOver, expectKeptAgreement, rounds } from '../../../cql/test/ward.fixture.js'
import { holdsOverStorages } from './over-storages.js'

describe('a measure over a population that is kept counts what a new evaluation does, after whatever was written', () => {
  holdsOverStorages({
    values: rounds,
    check: (storage, all) => expectKeptAgreement(contextOver(storage), all),
    runs: { memory: 10, sqlite: 5, postgres: 3 },
  })
})
