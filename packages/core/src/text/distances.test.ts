import { expect, test } from 'vitest'
import { distancesFrom } from './nearest.js'

test.each([
  ['', '', 0],
  ['a', '', 1],
  ['male', 'male', 0],
  ['male', 'mael', 1],
  ['male', 'mle', 1],
  ['male', 'maale', 1],
  ['male', 'mald', 1],
  ['male', 'lame', 2],
  ['ca', 'abc', 3],
  ['birthDate', 'brithDaet', 2],
])('between %s and %s there are %i', (a, b, distance) => {
  expect([distancesFrom(a, 5)(b), distancesFrom(b, 5)(a)]).toEqual([distance, distance])
})

test('a word is compared with others as with each alone, and as by the whole table, up to the limit', () => {
  const letters = 'abcab'
  const words = Array.from({ length: 300 }, (_, i) =>
    Array.from({ length: i % 8 }, (_letter, j) => letters[(i * 7 + j * j * (i % 5)) % 5]).join(''),
  )
  for (const most of [0, 1, 2, 4]) {
    for (const word of words.slice(0, 60)) {
      const distance = distancesFrom(word, most)
      for (const other of words) expect(distance(other), `${word} ${other}`).toBe(Math.min(wholeTable(word, other), most + 1))
    }
  }
})

/** The definition, without any limit. */
function wholeTable(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const options = [rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)]
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) options.push(rows[i - 2]![j - 2]! + 1)
      row.push(Math.min(...options))
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
