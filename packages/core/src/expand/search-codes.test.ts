import { describe, expect, test } from 'vitest'
import { createContext } from '../context/index.js'
import { memoryStorage } from '../memory/index.js'
import type { CodeQuestion } from '../search/index.js'
import { searchCodes } from './search-codes.js'

const SYSTEM = 'http://example.org/animals'
const animals = {
  resourceType: 'CodeSystem',
  id: 'animals',
  url: SYSTEM,
  status: 'active',
  content: 'complete',
  concept: [{ code: 'bird', concept: [{ code: 'duck' }, { code: 'owl', concept: [{ code: 'barn-owl' }] }] }, { code: 'fish' }],
}
const birds = {
  resourceType: 'ValueSet',
  id: 'birds',
  url: 'http://example.org/birds',
  status: 'active',
  compose: { include: [{ system: SYSTEM, filter: [{ property: 'concept', op: 'is-a', value: 'bird' }] }] },
}
const ctx = createContext({ storage: memoryStorage([animals, birds]) })
const codesOf = searchCodes(() => ctx)

describe('the codes behind a search modifier', () => {
  const rows: readonly (readonly [CodeQuestion, readonly string[]])[] = [
    [{ modifier: 'in', valueSet: 'http://example.org/birds' }, ['barn-owl', 'bird', 'duck', 'owl']],
    [{ modifier: 'in', valueSet: 'ValueSet/birds' }, ['barn-owl', 'bird', 'duck', 'owl']],
    [{ modifier: 'below', system: SYSTEM, code: 'owl' }, ['barn-owl', 'owl']],
    [{ modifier: 'above', system: SYSTEM, code: 'barn-owl' }, ['barn-owl', 'bird', 'owl']],
  ]
  test.each(rows)('%j', async (question, codes) => {
    const [group, ...others] = await codesOf(question)
    expect([group?.system, group?.codes.toSorted(), others]).toEqual([SYSTEM, codes, []])
  })

  test.each([
    [{ modifier: 'in', valueSet: 'http://nowhere' } as const],
    [{ modifier: 'in', valueSet: 'ValueSet/nowhere' } as const],
    [{ modifier: 'below', system: 'http://nowhere', code: 'x' } as const],
  ])('%j cannot be told, and is not taken for empty', async (question) => {
    await expect(codesOf(question)).rejects.toMatchObject({ name: 'OperationError' })
  })
})
