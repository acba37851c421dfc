import { expect, it } from 'vitest'
import { memoryStorage } from '../memory/index.js'
import { scanResources } from './index.js'

it.each([
  ['has no limit', {}, [undefined, 31, 10, undefined]],
  ['has a limit', { limit: 20 }, [20, 20, 10, 20]],
])('the next page of a scan is asked for little more than fitted into the last one, if the query %s', async (_, given, limits) => {
  const { search, read } = memoryStorage([{ resourceType: 'Patient', id: 'a' }])
  const stored = await read('Patient', 'a')
  if (stored === undefined) throw new TypeError('No patient.')
  const asked: (number | undefined)[] = []
  const scan = async ({ limit }: { readonly limit?: number }) => {
    const page = asked.push(limit)
    const items = Array.from({ length: [20, 6, 400, 1][page - 1] ?? 0 }, () => ({ stored, referring: [] }))
    return { items, ...(page < 4 && { next: String(page) }) }
  }
  let count = 0
  for await (const _item of scanResources({ search, scan }, { type: 'Patient', where: { kind: 'and', conditions: [] }, ...given })) count++
  expect(asked).toEqual(limits)
  expect(count).toBe(427)
})
