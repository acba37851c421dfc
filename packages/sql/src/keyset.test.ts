import type { SortKey } from 'fhir-ops/storage'
import { describe, expect, it, test } from 'vitest'
import { cursorOf, isAfter, orderTerms, readCursor } from './keyset.js'

const DATE: SortKey = { param: 'date', field: 'low', descending: true }

describe('a cursor', () => {
  it('is read as it was written', () => {
    const position = { id: 'a', keys: [1.5] }
    expect(readCursor(cursorOf(position), { sort: [DATE] })).toEqual(position)
    expect(readCursor(cursorOf({ id: 'a', keys: [] }), {})).toEqual({ id: 'a', keys: [] })
  })

  it.each(['', '{}', '[]', '[1]', '["a"]', '["a",{}]', '["a",1,2]', 'x'])('%j is refused for a query with one sort key', (cursor) => {
    expect(() => readCursor(cursor, { sort: [DATE] })).toThrow(expect.objectContaining({ code: 'search-invalid' }))
  })
})

test('resources without a key come last in both directions', () => {
  expect(orderTerms({ sort: [DATE, { ...DATE, descending: false }] }).text).toBe('s0 IS NULL, s0 DESC, s1 IS NULL, s1 ASC, id')
})

test('a key that is never null is ordered by itself', () => {
  expect(orderTerms({ sort: [DATE, DATE] }, 1).text).toBe('s0 DESC, s1 IS NULL, s1 DESC, id')
})

test('what comes after a position is bound, key by key', () => {
  expect(isAfter({ sort: [DATE] }, { id: 'a', keys: [7] })).toEqual({
    text: '((s0 < ? OR s0 IS NULL) OR s0 IS NOT DISTINCT FROM ? AND id > ?)',
    values: [7, 7, 'a'],
  })
  expect(isAfter({ sort: [DATE] }, { id: 'a', keys: [null] }).text).toBe('(FALSE OR s0 IS NOT DISTINCT FROM ? AND id > ?)')
})
