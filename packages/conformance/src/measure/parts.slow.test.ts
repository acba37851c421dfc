import { describe } from 'vitest'
import { divided, expectWhole, fillWard } from '../../../cql/test/measure-parts.fixture.js'
import { contextOver } from '../../../cql/test/ward.fixture.js'
import { holdsOverStorages } from './over-storages.js'

describe('parts of the subjects of a Measure come to what all subjects give', () => {
  holdsOverStorages({
    values: divided,
    check: async (storage, one) => {
      const ctx = contextOver(storage)
      await fillWard(ctx, one)
      await expectWhole(ctx, one.of)
    },
    runs: { memory: 5, sqlite: 5, postgres: 3 },
  })
})
