import { describe, expect, test } from 'vitest'
import { ERRORS, escapeControls, OperationError, outcomeOf, outcomeOk, quoted } from './index.js'

const STATUSES = [400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 414, 415, 422, 429, 501, 503]

describe('the table of errors', () => {
  test.each(Object.entries(ERRORS))('%s has a status that may be sent', (_, row) => {
    expect(STATUSES).toContain(row.status)
  })
})

describe('outcomeOf', () => {
  test('gives severity, issue type, sentence and place', () => {
    const error = new OperationError('parameter-required', "Parameter 'url' is missing.", { expression: ['url'] })
    expect(outcomeOf(error, 'x1')).toEqual({
      resourceType: 'OperationOutcome',
      id: 'x1',
      issue: [{ severity: 'error', code: 'required', details: { text: "Parameter 'url' is missing." }, expression: ['url'] }],
    })
  })

  test('states only places that are strings of FHIR: not blank, and without control characters', () => {
    const placesOf = (...expression: string[]): unknown =>
      outcomeOf(new OperationError('parameter-invalid', 'x', { expression }), 'x').issue[0]?.expression
    expect(placesOf('')).toBeUndefined()
    expect(placesOf(' ', 'url')).toEqual(['url'])
    expect(placesOf('name:\u0001')).toEqual(['name:\uFFFD'])
  })

  test('cuts a place that is the name of a parameter of any length', () => {
    const [issue] = outcomeOf(new OperationError('parameter-invalid', 'x', { expression: ['y'.repeat(3_000), 'url'] }), 'x').issue
    expect(issue?.expression).toEqual([`${'y'.repeat(199)}…`, 'url'])
  })

  test('refuses other errors, whose messages may not be for callers', () => {
    const other: unknown = new Error('ECONNREFUSED 10.0.0.1')
    expect(() => Reflect.apply(outcomeOf, undefined, [other, 'x'])).toThrow(
      new TypeError('outcomeOf takes an OperationError: other messages may not be for callers.'),
    )
  })

  test('never shows the cause', () => {
    const error = new OperationError('storage-unavailable', 'The storage cannot be reached.', { cause: new Error('ECONNREFUSED 10.0.0.1') })
    expect(JSON.stringify(outcomeOf(error, 'x'))).not.toContain('ECONNREFUSED')
  })

  test('carries the terminology ecosystem’s coding and message id', () => {
    const [issue] = outcomeOf(new OperationError('not-found', 'x', { txIssue: 'not-found', messageId: 'M' }), 'x').issue
    expect(issue?.details?.coding?.[0]?.code).toBe('not-found')
    expect(issue?.extension?.[0]?.valueString).toBe('M')
  })
})

test('a success without content is the outcome ok', () => {
  expect(outcomeOk()).toEqual({
    resourceType: 'OperationOutcome',
    id: 'ok',
    issue: [{ severity: 'information', code: 'informational', details: { text: 'All OK' } }],
  })
})

describe('quoted', () => {
  test.each([
    ['abc', "'abc'"],
    ['a\nb', "'a\\nb'"],
    ['\u001b[31m', "'\\u001b[31m'"],
    ['\ud800', "'\ufffd'"],
    ['x'.repeat(101), `'${'x'.repeat(99)}…'`],
    ['x'.repeat(100), `'${'x'.repeat(100)}'`],
  ])('%j becomes %j', (text, expected) => {
    expect(quoted(text)).toBe(expected)
  })
})

test('control characters and line separators are escaped for text on one line', () => {
  expect(escapeControls('a\r\n\tb\u001b\u009b\u2028\u{1F600}')).toBe(String.raw`a\r\n\tb\u001b\u009b\u2028`.concat('\u{1F600}'))
})

describe('instanceof', () => {
  /** As another copy of the package in the process has it. */
  class OtherCopy extends Error {
    override readonly name = 'OperationError'
    readonly code = 'not-found'
    readonly detail = {}
  }

  test('knows the errors of another copy of the package', () => {
    expect(new OtherCopy('x')).toBeInstanceOf(OperationError)
    expect(new OperationError('not-found', 'x')).toBeInstanceOf(OperationError)
  })

  test('tells the errors of a class that extends it from others', () => {
    class Mine extends OperationError {}
    const mine = new Mine('not-found', 'x')
    expect([mine instanceof Mine, mine instanceof OperationError]).toEqual([true, true])
    expect(new OperationError('not-found', 'x')).not.toBeInstanceOf(Mine)
  })

  test('knows no other errors, those of the same name of cryptography among them', () => {
    const others = [
      new Error('x'),
      new DOMException('x', 'OperationError'),
      { name: 'OperationError', code: 'not-found', detail: {} },
      null,
      'x',
    ]
    expect(others.filter((other) => other instanceof OperationError)).toEqual([])
  })
})
