import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { sql, sqliteDriver } from './driver.js'

const CHARACTERS = 100_000
const STATEMENTS = 11

test('a connection is worn by many long statements, not by one that comes again and again', () => {
  const [same, other] = [sqliteDriver(new DatabaseSync(':memory:')), sqliteDriver(new DatabaseSync(':memory:'))]
  for (let n = 0; n < STATEMENTS; n++) {
    same.get({ text: `SELECT 1 ${' '.repeat(CHARACTERS)}`, values: [] })
    other.get({ text: `SELECT ${n} ${' '.repeat(CHARACTERS)}`, values: [] })
  }
  expect([same.isWorn(), other.isWorn()]).toEqual([false, true])
  expect(other.get(sql`SELECT ${7}`)).toEqual([7])
})
