import { expect, test } from 'vitest'
import { storageFailure } from './failure.js'

const UNLOCKABLE = 'The database file cannot be locked: it is read-only, or its file system has no locks.'
const BROKEN = 'The file system failed to read or write the database file.'

/** As node:sqlite and better-sqlite3 give them: extended codes, in numbers and names. */
test.each([
  [{ errcode: 3850 }, UNLOCKABLE],
  [{ code: 'SQLITE_IOERR_LOCK' }, UNLOCKABLE],
  [{ errcode: 10 }, BROKEN],
  [{ errcode: 266 }, BROKEN],
  [{ code: 'SQLITE_IOERR_READ' }, BROKEN],
  [{ errcode: 1 }, 'The database did not do what was asked of it.'],
])('%j is told as a sentence', (error, message) => {
  expect(storageFailure(Object.assign(new Error('disk I/O error'), error))).toMatchObject({ code: 'storage-unavailable', message })
})
