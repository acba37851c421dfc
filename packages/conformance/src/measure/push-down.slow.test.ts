import { describe } from 'vitest'
import { expectSameCounts, ward } from '../../../cql/test/push-down.fixture.js'
import { holdsOverStorages } from './over-storages.js'

describe('populations that the search for subjects tells are those that evaluations give', () => {
  holdsOverStorages({
    values: ward,
    check: async (storage, all) => void (await expectSameCounts(storage, all)),
    runs: { memory: 60, sqlite: 20, postgres: 10 },
  })
})
