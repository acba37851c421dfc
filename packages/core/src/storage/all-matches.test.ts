import { expect, it } from 'vitest'
import { memoryStorage } from '../memory/index.js'
import { allMatches, type SearchQuery, type Storage } from './index.js'

const query: SearchQuery = { type: 'Patient', where: { kind: 'and', conditions: [] }, limit: 2 }

function storage(): Pick<Storage, 'search'> & { readonly asked: number[] } {
  const inner = memoryStorage(['a', 'b', 'c', 'd', 'e'].map((id) => ({ resourceType: 'Patient', id })))
  const asked: number[] = []
  return { asked, search: (page) => (asked.push(page.limit ?? 0), inner.search(page)) }
}

it('goes through every page', async () => {
  const ids: string[] = []
  for await (const { id } of allMatches(storage(), query)) ids.push(id)
  expect(ids).toEqual(['a', 'b', 'c', 'd', 'e'])
})

it('asks for a page only when it is needed', async () => {
  const counted = storage()
  for await (const { id } of allMatches(counted, query)) if (id === 'b') break
  expect(counted.asked).toHaveLength(1)
})
