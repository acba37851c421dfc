import { expect, test } from 'vitest'
import { findingsOf } from './findings-of.js'

const MANY = 30_000
const CUT = 'warning findings-cut '

test.each([
  ['extensions', { extension: Array.from({ length: MANY }, (_, i) => ({ url: `http://unknown.net/${i}`, valueString: 'x' })) }],
  ['properties', Object.fromEntries(Array.from({ length: MANY }, (_, i) => [`p${i}`, 1]))],
])('of thousands of unknown %s, only what is told is looked up', async (_, members) => {
  const found = await findingsOf({ resourceType: 'Patient', ...members }, [], /./)
  expect([found.length, found.at(-1)]).toEqual([101, CUT])
})
