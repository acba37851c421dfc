import { expect, test } from 'vitest'
import { jsonOf, resourcesIn } from './resources.js'

test.each([
  ['', /^The text is empty: FHIR resources in JSON are expected\.$/],
  ['<Patient/>', /^This is XML or HTML/],
  ['nonsense', /^The text is not JSON: .*nonsense.*\.$/],
])('the text %j is refused by what it is', (text, message) => {
  expect(() => jsonOf(text)).toThrow(message)
})

test('an empty text has no resources', () => {
  expect(resourcesIn(' \n')).toEqual([])
})
