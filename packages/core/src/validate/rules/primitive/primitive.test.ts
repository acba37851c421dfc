import { describe, expect, test } from 'vitest'
import { comparableMs, processorTimeOf } from '../../../../../../test/processor-time.js'
import type { PrimitiveProblem } from '../../run/primitive-problem.js'
import { dateProblem, dateTimeProblem, instantProblem, timeProblem } from './date-time.js'
import { base64Length, base64Problem, decimalProblem, integerProblem, positiveIntProblem, unsignedIntProblem } from './number-and-bytes.js'
import { canonicalProblem, codeProblem, idProblem, markdownProblem, oidProblem, stringProblem, uriProblem, uuidProblem } from './text.js'

const NOW = new Date('2026-01-01T00:00:00Z')
const UUID = 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520'

const ROWS: readonly [
  string,
  (text: string) => PrimitiveProblem | undefined,
  { ok: readonly string[]; warning?: readonly string[]; information?: readonly string[]; error: readonly string[] },
][] = [
  [
    'date',
    (text) => dateProblem(text, NOW),
    {
      ok: ['2024', '2024-02', '2024-02-29', '2000-02-29'],
      warning: ['1799-12-31', '2107'],
      error: [
        '',
        '24',
        '0000',
        '2024-13',
        '2024-00',
        '2023-02-29',
        '1900-02-29',
        '2024-02-30',
        '2024-2-1',
        '2024-01-01T00:00:00Z',
        ' 2024',
      ],
    },
  ],
  [
    'dateTime',
    (text) => dateTimeProblem(text, NOW),
    {
      ok: ['2024', '2024-01-31', '2024-01-31T23:59:59Z', '2024-01-31T23:59:60.123+14:00', '2024-01-31T00:00:00-05:30'],
      error: [
        '2024-01-31T23:59:59',
        '2024-01-31T23:59Z',
        '2024-01T10:00:00Z',
        '2024-01-31T24:00:00Z',
        '2024-01-31T10:00:00+15:00',
        '2024-01-31T10:00:00+14:30',
        '2024-01-31 10:00:00Z',
      ],
    },
  ],
  ['instant', (text) => instantProblem(text, NOW), { ok: ['2024-01-31T23:59:59.5Z'], error: ['2024-01-31', '2024-01-31T23:59:59'] }],
  ['time', timeProblem, { ok: ['00:00:00', '23:59:59.999'], error: ['24:00:00', '10:00', '10:00:00Z', '10:60:00'] }],
  ['integer', integerProblem, { ok: ['0', '-1', '2147483647', '-2147483648'], error: ['1.0', '1e3', '2147483648', '-2147483649'] }],
  ['unsignedInt', unsignedIntProblem, { ok: ['0', '7'], error: ['-1', '-0', '1.0'] }],
  ['positiveInt', positiveIntProblem, { ok: ['1'], error: ['0', '-1'] }],
  ['decimal', decimalProblem, { ok: ['1.50', '-0.0', '1e300', '123456789012345678'], warning: ['1234567890123456789'], error: [] }],
  [
    'string',
    stringProblem,
    {
      ok: [
        'a',
        '\u{1F600}'.repeat(1024 * 1024),
        'a\nb',
        'a < b > c',
        '<3',
        '<http://x>',
        '<name>',
        'a <TS> b',
        '<br/>',
        '</b>',
        'a\u202Eb\u202Cc',
        'a\u2067b\u2069',
      ],
      warning: [' ', '\n', ' a', 'a ', 'a\u0007', 'a\u202Eb', 'a\u202Cb'],
      information: ['<b>x</b>', 'a <b>c<i>', 'x <img src=y>', '<script>x'],
      error: ['x'.repeat(1024 * 1024 + 1)],
    },
  ],
  [
    'markdown',
    markdownProblem,
    {
      ok: ['a ', ' a < b, b > a', '`<b>`', '<http://x>', '\\<b>', 'a<br/>'],
      warning: [' ', '<b>x</b>', '<img src=x>', 'a </p>', '<br />', '<!-- a -->', '<?xml?>'],
      error: [],
    },
  ],
  [
    'code',
    codeProblem,
    { ok: ['a', 'a b', '<='], warning: ['a\u0007b'], error: [' a', 'a ', 'a  b', 'a\tb', 'a\u00a0b', 'a\u0085b', 'a\u3000b'] },
  ],
  ['id', idProblem, { ok: ['a.B-1', 'x'.repeat(64)], error: ['', 'a_b', 'a b', 'x'.repeat(65), 'é'] }],
  [
    'uri',
    uriProblem,
    {
      ok: ['a', 'http://x', 'urn:oid:1.2.3', UUID],
      warning: [UUID.toUpperCase().replace('URN:UUID', 'urn:uuid'), 'http://x/\u0007'],
      error: ['a b', 'oid:1.2', 'uuid:x', 'urn:oid:1.02', 'urn:uuid:1'],
    },
  ],
  [
    'canonical',
    canonicalProblem,
    {
      ok: ['http://x|1', '#a', UUID, `${UUID}|1`, 'urn:oid:1.2.3|1'],
      error: ['Library/x', 'http://x y', 'urn:oid:1.x|1', 'urn:oid:1.2|1 0'],
    },
  ],
  ['oid', oidProblem, { ok: ['urn:oid:2.16.840'], error: ['2.16.840', 'urn:oid:3.1'] }],
  ['uuid', uuidProblem, { ok: [UUID], error: [UUID.slice('urn:uuid:'.length), UUID.toUpperCase()] }],
  [
    'base64Binary',
    base64Problem,
    { ok: ['', 'AAAA', 'AAA=', 'AA==', '+/09'], warning: ['AA AA', 'AAAA\n'], error: ['A', 'AAA', 'A===', '====', 'AA=A', 'AA.A'] },
  ],
]

describe.each(ROWS)('%s', (_, problemOf, { ok, warning = [], information = [], error }) => {
  test.each(ok)('%j is right', (text) => {
    expect(problemOf(text)).toBeUndefined()
  })

  test.each(warning)('%j can be used, with a warning', (text) => {
    expect(problemOf(text)?.severity).toBe('warning')
  })

  test.each(information)('%j is noted', (text) => {
    expect(problemOf(text)?.severity).toBe('information')
  })

  test.each(error)('%j is wrong', (text) => {
    expect(problemOf(text)).toMatchObject({ text: expect.any(String) as string })
    expect(problemOf(text)?.severity).not.toBe('warning')
  })
})

test.each([10, 1_000, 70_000])('of a base64 text that begins with %d groups, the end is judged as of a short one', (groups) => {
  const start = 'AA+/'.repeat(groups)
  for (const end of [
    '',
    'AAAA',
    'AAA=',
    'AA==',
    '=',
    '==',
    '====',
    'A===',
    'AA=A',
    'AA.A',
    'AA-_',
    'AA\u0141A',
    'A',
    'AA',
    'AA AA',
    'AAAA\n',
    '    ',
  ]) {
    expect.soft(base64Problem(start + end)?.text, end).toBe(base64Problem(`AAAA${end}`)?.text)
    expect.soft(base64Problem(end + start)?.text, end).toBe(base64Problem(`${end}AAAA`)?.text)
  }
})

test('a base64 text that defeats the published expression takes no time', () => {
  const hostile = `${'"AAAA  "'.repeat(100_000)}!`
  const ms = processorTimeOf(() => {
    expect(base64Problem(hostile)).toBeDefined()
    expect(base64Problem(`${'AAAA  '.repeat(100_000)}!`)).toBeDefined()
  })
  expect(comparableMs(ms, 1_000)).toBeLessThan(1_000)
})

test.each([
  ['', 0],
  ['AAAA', 3],
  ['AAA=', 2],
  ['AA==', 1],
  ['AA AA\n', 3],
])('%j stands for %d octets', (text, octets) => {
  expect(base64Length(text)).toBe(octets)
})

test('too many digits are about the value, not about its form', () => {
  expect(decimalProblem('1234567890123456789')?.code).toBe('value')
})
