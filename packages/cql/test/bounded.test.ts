import { createContext } from 'fhir-ops/context'
import { createScheduler } from 'fhir-ops/internal/context'
import { evaluateMeasure } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { r4, r4TypeModel } from '@fhir-ops/r4'
import { describe, expect, it } from 'vitest'
import { comparableMs, processorClock } from '../../../test/processor-time.js'
import { compileLibrary, cqlLanguage, createEvaluation, evaluateCql, literalText } from '../src/index.js'
import { libraryWith } from './library.fixture.js'
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
    [
      'the last position in a long text',
      `Count(${ROWS} N where LastPositionOf('${'a'.repeat(3000)}b', '${'a'.repeat(300_000)}') = N return all N)`,
      TOO_MANY,
    ],
    [
      'a position in a long text',
      `Count(${ROWS} N where PositionOf('${'a'.repeat(20_000)}b${'a'.repeat(20_000)}', '${'a'.repeat(300_000)}') = N return all N)`,
      TOO_MANY,
    ],
    [
      'parts of a long text',
      `Count(${ROWS} N where Count(Split('${'a'.repeat(300_000)}', '${'a'.repeat(20_000)}b${'a'.repeat(20_000)}')) = N return all N)`,
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

describe('results of a Measure', () => {
  const SHARED = `define L0: {1, 2}\n${Array.from({ length: 40 }, (_, n) => `define L${n + 1}: {L${n}, L${n}}`).join('\n')}`
  const DEEP = 'define Deep: (expand Interval[1, 30000] per 1) N aggregate R starting (null as List<Any>): {R}'
  const LONG_TEXTS = `define Long: (expand Interval[1, 1000] per 1) N return all '${'x'.repeat(100_000)}' + ToString(N)`
  const ROWS_EACH = 'define Rows: expand Interval[1, 20000] per 1'
  const text = `using FHIR version '4.0.1'\ncontext Patient\ndefine Everybody: true\n${SHARED}\n${DEEP}\n${LONG_TEXTS}\n${ROWS_EACH}`
  const criteria = (expression: string): object => ({ language: 'text/cql-identifier', expression })
  const population = (expression: string): object => ({
    code: { coding: [{ code: 'initial-population' }] },
    criteria: criteria(expression),
  })
  const component = (expression: string): object => ({ code: { text: expression }, criteria: criteria(expression) })
  const evidence = {
    url: 'http://hl7.org/fhir/StructureDefinition/cqf-supportingEvidenceDefinition',
    valueExpression: { name: 'shared', ...criteria('L40') },
  }
  const usage = [{ coding: [{ code: 'supplemental-data' }] }]

  it.each<[string, object, RegExp, object?]>([
    ['items that share their parts', { group: [{ population: [population('L40')] }] }, /1000000 steps/],
    ['items that are nested too deep', { group: [{ population: [population('Deep')] }] }, /200 deep/],
    ['items that are long texts', { group: [{ population: [population('Long')] }] }, /1000000 steps/],
    [
      'supplemental data that shares its parts',
      { group: [{ population: [population('Everybody')] }], supplementalData: [{ usage, criteria: criteria('L40') }] },
      /1000000 steps/,
    ],
    [
      'supplemental data that is nested too deep',
      { group: [{ population: [population('Everybody')] }], supplementalData: [{ usage, criteria: criteria('Deep') }] },
      /200 deep/,
    ],
    [
      'combinations of many values',
      { group: [{ population: [population('Everybody')], stratifier: [{ component: [component('Rows'), component('Rows')] }] }] },
      /1000000 steps/,
    ],
    [
      'evidence that shares its parts',
      { group: [{ population: [{ ...population('Everybody'), extension: [evidence] }] }] },
      /1000000 steps/,
      { subject: 'Patient/p' },
    ],
  ])('%s count as steps of the subject', async (_, of, message, asked = {}) => {
    const { indexer, types, ...release } = r4()
    const library = libraryWith('Bounded', `library Bounded\n${text}`)
    const measure = { resourceType: 'Measure', id: 'm', status: 'active', library: [library.url], ...of }
    const storage = memoryStorage([library, measure, { resourceType: 'Patient', id: 'p' }], { indexer })
    const ctx = createContext({ ...release, types, storage })
    const input = { measure: 'm', periodStart: '2020', periodEnd: '2020', ...asked }
    const { failures = [] } = await evaluateMeasure(ctx, input, { languages: [cqlLanguage({ translator })] })
    expect(failures.map(({ message: said }) => said)).toEqual([expect.stringMatching(message)])
  })
})

it('a message without a text is reported by its code only if that is one', async () => {
  const deep = '(expand Interval[1, 30000] per 1) N aggregate R starting (null as List<Any>): {R}'
  const { elm } = await translator.translate(
    `library T version '1'\ndefine Deep: ${deep}\ndefine X: Message(1, true, 'c', 'Error', null as String)`,
  )
  const code = { type: 'ExpressionRef', name: 'Deep' }
  const changed: unknown = JSON.parse(JSON.stringify(elm), (name, value: unknown) => (name === 'code' ? code : value))
  const library = compileLibrary(changed, { model, convert: sameUnit })
  const evaluation = createEvaluation({ now: new Date(), maxSteps: MAX_STEPS })
  expect(() => library.definition('X')?.compute(evaluation)).toThrow(/^The library reports an error \(at 3:\d/)
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
