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

/** As the file system gives them. */
test.each([
  ['EACCES', 'storage-unavailable', /cannot be opened/],
  ['ENOENT', 'storage-unavailable', /cannot be opened/],
  ['EMFILE', 'storage-unavailable', /cannot be opened/],
  ['EROFS', 'storage-unavailable', /read-only/],
  ['ENOSPC', 'storage-full', /full/],
  ['EDQUOT', 'storage-full', /full/],
  ['EIO', 'storage-unavailable', /file system failed/],
])('the error %s of the file system is %s', (code, known, message) => {
  const error = storageFailure(Object.assign(new Error(`${code}: it failed`), { code }))
  expect([error.code, error.message]).toEqual([known, expect.stringMatching(message)])
})
