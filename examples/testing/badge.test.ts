import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { expect, test } from 'vitest'
import { badgeColour } from './badge.js'

const map = {
  resourceType: 'ConceptMap',
  id: 'colours',
  url: 'http://example.org/priority-to-colour',
  status: 'active',
  group: [
    {
      source: 'http://example.org/priority',
      target: 'http://example.org/colour',
      element: [{ code: 'urgent', target: [{ code: 'red', equivalence: 'equivalent' }] }],
    },
  ],
}

test.each([
  ['urgent', 'red'],
  ['later', 'grey'],
])('a visit with priority %s gets a %s badge', async (priority, colour) => {
  const ctx = createContext({ storage: memoryStorage([map]) })
  expect(await badgeColour(ctx, priority)).toBe(colour)
})
