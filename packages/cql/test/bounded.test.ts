import { createContext } from 'fhir-ops/context'
import { createScheduler } from 'fhir-ops/internal/context'
import { memoryStorage } from 'fhir-ops/memory'
import { r4TypeModel } from '@fhir-ops/r4'
import { describe, expect, it } from 'vitest'
import { comparableMs, processorClock } from '../../../test/processor-time.js'
import { compileLibrary, createEvaluation, evaluateCql, literalText } from '../src/index.js'
import { translator } from './translator.fixture.js'

const model = r4TypeModel()
const MAX_STEPS = 200_000
/** Processor time that so many steps may take. Far above what they take, far below what the expressions took without a bound. */
const MAX_MS = 1000

const sameUnit = (from: string, to: string): number | undefined => (from === to ? 1 : undefined)

async function evaluated(
  definitions: string,
  convert: (from: string, to: string) => number | undefined = sameUnit,
): Promise<{ readonly text: string; readonly ms: number }> {
  const { elm, problems } = await translator.translate(`library T version '1'\n${definitions}`)
  expect(problems).toEqual([])
  const library = compileLibrary(elm, { model, convert })
  const evaluation = createEvaluation({ now: new Date('2020-06-01T10:00:00Z'), maxSteps: MAX_STEPS })
  const took = processorClock()
  const outcome = (): string => {
    try {
      return literalText(library.definition('X')?.compute(evaluation) ?? null)
    } catch (error) {
      return String(error)
    }
  }
  const text = outcome()
  return { text, ms: comparableMs(took(), MAX_MS) }
}

const TOO_MANY = expect.stringContaining('took more than 200000 steps')
const DECIMALS = '(expand Interval[1.0, 3000.0] per 0.1)'
const QUANTITIES = "((expand Interval[1, 5000] per 1) N return all Quantity { value: N * 1.0, unit: 'mg' })"
const ROWS = '(expand Interval[1, 30000] per 1)'
const LONG = "((expand Interval[1, 19] per 1) N aggregate T starting 'a': T + T)"

describe('operators over many values', () => {
  it.each([
    ['decimals without repetitions are found by their value', `Count(distinct ${DECIMALS})`, '29991'],
    ['quantities are compared in pairs', `Count(distinct ${QUANTITIES})`, TOO_MANY],
    ['the most frequent value', `Mode(${DECIMALS})`, '1.0'],
    ['a difference', `Count((expand Interval[1, 15000] per 1) except (expand Interval[15001, 30000] per 1))`, '15000'],
    ['a list within a list', '(expand Interval[1, 15000] per 1) includes (expand Interval[1, 15000] per 1)', 'true'],
    ['membership of each', `Count(${ROWS} N where N in ${DECIMALS} return all N)`, TOO_MANY],
    ['equality of each with a long text', `${LONG} T let L: T return Count(${ROWS} N where L = (L + 'b') return all N)`, TOO_MANY],
    ['a text put together of long ones', `Length(Combine(${LONG} T let L: T return ${ROWS} N return all L))`, /at most 1000000 characters/],
    ['a pattern on a long text', `Matches(${LONG}, '(a|b|c)*(a|d|e|f)*(a|g|h)*x')`, 'false'],
    ['a replacement of many references', `Length(ReplaceMatches('${'a'.repeat(5000)}', 'a', '${'$0'.repeat(5000)}'))`, TOO_MANY],
    ['a long text in capitals', `Count(${ROWS} N where Length(Upper('${'ß'.repeat(30_000)}')) = N return all N)`, TOO_MANY],
    ['a long text in small letters', `Count(${ROWS} N where Length(Lower('${'İ'.repeat(30_000)}')) = N return all N)`, TOO_MANY],
    ['the characters of a long text', `Count(${ROWS} N where Count(ToChars('${'a'.repeat(30_000)}')) = N return all N)`, TOO_MANY],
    ['long texts without case', `Count(${ROWS} N where '${'\t'.repeat(40_000)}' ~ '${' '.repeat(40_000)}' return all N)`, TOO_MANY],
    [
      'lists of long texts without case',
      `Count(${ROWS} N where {'${'İ'.repeat(40_000)}'} ~ {'${'i̇'.repeat(40_000)}'} return all N)`,
      TOO_MANY,
    ],
    [
      'long texts of one length',
      `Count(distinct ((expand Interval[1001, 4500] per 1) N return all '${'a'.repeat(20_000)}' + ToString(N)))`,
      TOO_MANY,
    ],
    [
      'long codes of one length',
      `Count(distinct ((expand Interval[1001, 4500] per 1) N return all Code { code: '${'a'.repeat(20_000)}' + ToString(N), system: 's' }))`,
      TOO_MANY,
    ],
    ['texts that are not numbers', `Count(${ROWS} N where ToBoolean('${'İ'.repeat(20_000)}') is null return all N)`, TOO_MANY],
    ['texts that are not ratios', `Count(${ROWS} N where ToRatio('${'1:'.repeat(20_000)}') is null return all N)`, TOO_MANY],
    ['a unit of many parts', "(System.Quantity { value: 1.0, unit: '" + 'm.'.repeat(900) + "s' }) * 1 's'", /at most 1000 characters/],
    ['rows of several sources', `Count(from ${ROWS} A, ${ROWS} B return all A)`, TOO_MANY],
    ['long expressions', `Count(${ROWS} N return all ${'N + '.repeat(300)}1)`, TOO_MANY],
    ['long expressions over quantities', `Count(${ROWS} N return all ${"1 'mg' + ".repeat(100)}1 'mg')`, TOO_MANY],
    ['collapse', `Count(collapse (${ROWS} N return all Interval[N * 3, N * 3 + 1]))`, TOO_MANY],
    ['equal intervals', `(${ROWS} N return all Interval[N, N]) = (${ROWS} N return all Interval[N, N])`, TOO_MANY],
    ['dates', 'Count(expand Interval[@0001-01-01, @9999-12-31] per 1 day)', TOO_MANY],
  ])('%s', async (_, expression, expected) => {
    const { text, ms } = await evaluated(`define X: ${expression}`)
    expect(text).toEqual(expected instanceof RegExp ? expect.stringMatching(expected) : expected)
    expect(ms).toBeLessThan(MAX_MS)
  })

  it('the factor between two units is looked for once, and counts as steps', async () => {
    const asked: string[] = []
    const converting = (from: string, to: string): undefined => void asked.push(`${from} ${to}`)
    const few = `Count((expand Interval[1, 10000] per 1) N where N + 1 month is null return all N)`
    expect((await evaluated(`define X: ${few}`, converting)).text).toBe('10000')
    expect(asked.length).toBeLessThan(5)
    const many = `Count(${ROWS} N where System.Quantity { value: 1.0, unit: 'm' + ToString(N) } < 1 'g' return all N)`
    expect((await evaluated(`define X: ${many}`, converting)).text).toEqual(TOO_MANY)
    expect(asked.length).toBeLessThan(500)
  })

  it('calls of functions count as steps', async () => {
    const functions = Array.from({ length: 40 }, (_, n) => `define function f${n + 1}(n Integer): f${n}(n) + f${n}(n)`)
    const { text, ms } = await evaluated(`define function f0(n Integer): n\n${functions.join('\n')}\ndefine X: f40(0)`)
    expect([text, ms < MAX_MS]).toEqual([TOO_MANY, true])
  })

  it('a value that shares its parts costs as much as it would when it is walked', async () => {
    const lists = Array.from({ length: 40 }, (_, n) => `define L${n + 1}: {L${n}, L${n}}`)
    const { text, ms } = await evaluated(`define L0: {1, 2}\n${lists.join('\n')}\ndefine X: L40 = L40`)
    expect([text, ms < MAX_MS]).toEqual([TOO_MANY, true])
  })
})

describe('many evaluations of one text at once', () => {
  it('do not follow each other without a gap', async () => {
    const scheduler = createScheduler()
    let turns = 0
    const counting: typeof scheduler = {
      ...scheduler,
      turn(waiter) {
        turns++
        return scheduler.turn(waiter)
      },
    }
    const ctx = { ...createContext({ storage: memoryStorage(), types: model }), scheduler: counting }
    const expression = 'Count(expand Interval[1, 3000] per 1)'
    await Promise.all(Array.from({ length: 10 }, () => evaluateCql(ctx, { expression }, { translator })))
    expect(turns).toBeGreaterThanOrEqual(10)
  })
})
