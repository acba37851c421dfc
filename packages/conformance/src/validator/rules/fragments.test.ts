import { expect, test } from 'vitest'
import { findingsOf } from './findings-of.js'

test.each<readonly [uri: string, said: readonly string[]]>([
  ['#name', []],
  ['#other', ['information uri-fragment Patient.meta.source']],
  ['#', []],
  ['http://example.org#other', []],
])('a uri that is %s', async (source, said) => {
  expect(await findingsOf({ resourceType: 'Patient', meta: { source }, name: [{ id: 'name', text: 'x' }] }, [], /^uri-/)).toEqual(said)
})
