import { expect, it } from 'vitest'
import { storageFailure } from './failure.js'

it.each([
  ['25006', 'The database accepts no writes at present: it is read-only.'],
  ['53300', 'The database has no connection left.'],
  ['3F000', 'The database has no schema of those that its search_path names.'],
  ['42501', 'The user of the database lacks rights in it.'],
  ['0A000', 'The database reported an error that this adapter does not know.'],
])('SQLSTATE %s is told as what it is', (code, message) => {
  expect(storageFailure(Object.assign(new Error('of the server'), { code }))).toMatchObject({ code: 'storage-unavailable', message })
})

it.each(['a string', 'a non-empty string'])('a password that the driver misses is told as missing (%s)', (kind) => {
  const error = new Error(`SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be ${kind}`)
  expect(storageFailure(error).message).toBe('The database asks for a password, and none was given.')
})
