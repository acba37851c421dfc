import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { comparison, figuresIn, speedBetween } from '../../../../scripts/bench-figures.mjs'
import { PAGE, withResults } from '../../../../scripts/performance-page.mjs'

const HTTP = `| over node:http | handler µs | bare µs | handler : bare | handler/s | p99 ms |
| --- | --- | --- | --- | --- | --- |
| read | 38 | 11 | 3.4 | 25192 | 0.0 |`

const STORAGE = `| call, p50 / p99 ms | storage | 10,000 | 1,000,000 |
| --- | --- | --- | --- |
| count | SQLite | 0.30 / 1.54 | 1.32 / 1.77 |`

const PEERS = `| measure in CQL | engine, storage | patients | patients/s, cold | warm | counts |
| --- | --- | --- | --- | --- | --- |
| A | cql-execution | 200 | 50 |  | 50 |
| A | memory | 200 | 5129 | 7117 | 50 |`

describe('figures of a bench', () => {
  test('are told by the units of their headings, without those of peers and worst moments', () => {
    expect(figuresIn(HTTP)).toEqual([
      { name: 'read: handler µs', value: 38, better: 'less', isRatio: false },
      { name: 'read: handler : bare', value: 3.4, better: 'less', isRatio: true },
      { name: 'read: handler/s', value: 25_192, better: 'more', isRatio: false },
    ])
  })

  test('have the unit of the first heading where theirs has none, and their first number', () => {
    expect(figuresIn(STORAGE).map(({ name, value, better }) => [name, value, better])).toEqual([
      ['count, SQLite: 10,000', 0.3, 'less'],
      ['count, SQLite: 1,000,000', 1.32, 'less'],
    ])
  })

  test('are those of our own rows', () => {
    expect(figuresIn(PEERS).map(({ name, value }) => [name, value])).toEqual([['A, memory, 200: patients/s, cold', 5129]])
  })
})

describe('a comparison', () => {
  const run = (micros: number): string => HTTP.replace('38', String(micros))

  test('calls worse what is worse by more than a tenth in every round', () => {
    const verdict = (...micros: readonly number[]): string | undefined =>
      comparison(micros.map((now) => ({ before: run(38), now: run(now), speed: 1 }))).find(({ name }) => name === 'read: handler µs')
        ?.verdict
    expect(verdict(45, 46, 47)).toBe('worse')
    expect(verdict(45, 39, 47)).toBe('same')
    expect(verdict(30, 31, 32)).toBe('better')
  })

  test('sets times right by the speed of the machine, and leaves ratios', () => {
    const speed = speedBetween('calibration 10.0 ms', 'calibration 20.0 ms')
    const rows = comparison([{ before: HTTP, now: run(76), speed }])
    expect(rows.map(({ name, middle, verdict }) => [name, middle, verdict])).toEqual([
      ['read: handler µs', 1, 'same'],
      ['read: handler : bare', 1, 'same'],
      ['read: handler/s', 2, 'better'],
    ])
  })

  test('says that a run has no calibration', () => {
    expect(() => speedBetween(HTTP, 'calibration 20.0 ms')).toThrow('no line with its calibration')
  })
})

describe('docs/performance.md', () => {
  const page = readFileSync(PAGE, 'utf8')
  const machine = '<!-- machine of x -->\nMeasured with nothing.\n'

  test('has the tables of the kept runs', () => {
    expect(withResults(page), 'npm run docs writes them').toBe(page)
  })

  test('takes a table with the same headings, and its machine', () => {
    const text = `${HTTP.replace('25192', '99999')}\n\nMeasured with Node v24, calibration 9 ms.`
    expect(withResults(`# Page\n\n${HTTP}\n\n${machine}\nEnd`, [{ name: 'x', text }])).toBe(
      `# Page\n\n${HTTP.replace('25192', '99999')}\n\n<!-- machine of x -->\nMeasured with Node v24, calibration 9 ms.\n\nEnd`,
    )
  })

  test('has a place for each', () => {
    expect(() => withResults(`# Page\n\n${machine}`, [{ name: 'x', text: HTTP }])).toThrow('no table with the headings of the bench x')
    expect(() => withResults(`# Page\n\n${HTTP}`, [{ name: 'x', text: `${HTTP}\n\nMeasured with Node.` }])).toThrow(
      'no machine of the bench x',
    )
  })
})
