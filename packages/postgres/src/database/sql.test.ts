import { describe, expect, it } from 'vitest'
import { createQueries, prepared, sql } from './sql.js'

const MS = 1_000

describe('statements', () => {
  it('have numbered placeholders and values in their order', () => {
    expect(createQueries(true)(sql`SELECT ${1} WHERE a = ${'x'} AND ${sql`b = ${2}`}`, MS)).toEqual({
      text: 'SELECT $1 WHERE a = $2 AND b = $3',
      values: [1, 'x', 2],
      query_timeout: MS,
    })
  })

  it('are prepared from the third time on, each under a name of its own', () => {
    const queries = createQueries(true)
    const names = [1, 2, 3, 4].map((value) => queries(sql`SELECT ${value}`, MS).name)
    expect(names.map((name) => name !== undefined)).toEqual([false, false, true, true])
    for (let n = 0; n < 3; n++) queries(sql`SELECT ${n}, 2`, MS)
    expect(queries(sql`SELECT ${1}, 2`, MS).name).not.toBe(names.at(-1))
    expect(queries(sql`SELECT ${9}`, MS)).toMatchObject({ name: names.at(-1), values: [9] })
  })

  it('are prepared a hundred at most, and no long ones', () => {
    const queries = createQueries(true)
    const nameOf = (text: string): string | undefined => [1, 2, 3].map(() => queries({ text, values: [] }, MS).name).at(-1)
    expect(nameOf(`SELECT ${'1 + '.repeat(2_000)}1`)).toBeUndefined()
    const names = Array.from({ length: 150 }, (_, n) => nameOf(`SELECT 1 AS c${n}`)).filter((name) => name !== undefined)
    expect([names.length, new Set(names).size]).toEqual([100, 100])
  })

  it('have no name where connections are shared between transactions', () => {
    const queries = createQueries(false)
    for (let n = 0; n < 5; n++) expect(queries(prepared('read', sql`SELECT ${n}`), MS).name).toBeUndefined()
  })
})
