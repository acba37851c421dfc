import { describe } from 'vitest'
import { concurrentRounds, contextOver, expectAgreement, expectAgreementWhileWritten, rounds } from '../../../cql/test/ward.fixture.js'
import { holdsOverStorages } from './over-storages.js'

describe('a live measure counts what a new evaluation does, after whatever was written', () => {
  holdsOverStorages({
    values: rounds,
    check: (storage, all) => expectAgreement(contextOver(storage), all),
    runs: { memory: 10, sqlite: 5, postgres: 3 },
  })
})

describe('a live measure counts what a new evaluation does, after several writers wrote, deleted and restored while it was evaluated', () => {
  holdsOverStorages({
    values: concurrentRounds,
    check: (storage, all) => expectAgreementWhileWritten(contextOver(storage), all),
    runs: { memory: 10, sqlite: 5, postgres: 3 },
  })
})
