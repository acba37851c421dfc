import { describe, expect, it } from 'vitest'
import { memoryStorage } from '../memory/index.js'
import { allMatches, type SearchQuery, type Storage, type StoredResource } from './index.js'

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

describe('over a storage that may find a resource on two pages', () => {
  const capabilities = { atomic: true, counts: true, preconditions: true, sorts: true, repeats: true } as const
  const PAGE = 50_000

  /** Finds this many resources, the last of which is that of the given number again. */
  async function found(total: number, again?: number): Promise<number> {
    const idOf = (n: number): string => `p${n === total - 1 && again !== undefined ? again : n}`
    const search = async ({ after = '0' }: SearchQuery): Promise<{ items: readonly StoredResource[]; next?: string }> => {
      const [from, to] = [Number(after), Math.min(Number(after) + PAGE, total)]
      const items = Array.from({ length: to - from }, (_, n) => ({ ...one, id: idOf(from + n) }))
      return { items, ...(to < total && { next: String(to) }) }
    }
    let count = 0
    for await (const _ of allMatches({ capabilities, search }, query)) count++
    return count
  }
  const one: StoredResource = { type: 'Patient', id: '', versionId: '1', lastUpdated: '', text: '', resource: { resourceType: 'Patient' } }

  it.each([0, 1, 49_999, 50_000])('number %i among 120,000 again is noticed', async (again) => {
    await expect(found(120_000, again)).rejects.toMatchObject({
      code: 'storage-unavailable',
      message: expect.stringContaining('two pages'),
    })
  })

  it('1,000,000 different ones are found, and more are refused', async () => {
    expect(await found(1_000_000)).toBe(1_000_000)
    await expect(found(1_000_001)).rejects.toMatchObject({ code: 'too-costly' })
  })
})
