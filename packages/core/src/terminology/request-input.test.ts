import { expect, it, vi } from 'vitest'
import { parameterReader, parametersOf } from '../parameters/index.js'
import { readVersionRules } from './request-input.js'

const rules = (...canonicals: readonly string[]) => {
  const parameter = canonicals.map((valueUri) => ({ name: 'force-system-version', valueUri }))
  const reader = parameterReader(parametersOf({ resourceType: 'Parameters', parameter }))
  return { read: () => readVersionRules(reader), lookedFor: vi.spyOn(reader, 'expressionOf') }
}

it('the place of a parameter is looked for only for its error, because that goes through all parameters', () => {
  const many = rules(...Array.from({ length: 100 }, (_, n) => `http://example.org/${n}|1`))
  expect(many.read().force?.get('http://example.org/99')).toBe('1')
  expect(many.lookedFor).not.toHaveBeenCalled()
})

it.each([
  [['http://example.org/a|1', 'http://example.org/b'], "Parameter 'force-system-version' must name a version (url|version), not"],
  [['http://example.org/a|1', 'http://example.org/a|2'], "Parameter 'force-system-version' names two versions of"],
])('%j: %s', (canonicals, message) => {
  const expression = ['Parameters.parameter[0]']
  expect(rules(...canonicals).read).toThrow(expect.objectContaining({ message: expect.stringContaining(message), expression }))
})
