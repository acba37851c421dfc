import { expect, it, vi } from 'vitest'
import { memoryStorage } from '../../memory/index.js'
import { containedType, type ContainedEntry } from '../../storage/index.js'
import { showingContained } from './contained.js'

it('reads a container once, however many matches are in it', async () => {
  const storage = memoryStorage()
  const ids = ['a', 'b', 'c']
  const within = ids.map((id) => `{"resourceType":"Patient","id":"${id}"}`)
  const text = `{"resourceType":"Basic","id":"1","meta":{},"contained":[null,${within.join(',')}]}`
  const contained = ids.map((id): ContainedEntry => ({ type: containedType('Patient'), id: `Basic/1#${id}`, entries: [] }))
  await storage.write([{ op: 'put', type: 'Basic', id: '1', text, entries: [], contained }])
  const read = vi.spyOn(storage, 'read')
  const { items } = await showingContained(storage).search({ type: containedType('Patient'), where: { kind: 'and', conditions: [] } })
  expect(items.map((item) => item.text)).toEqual(within)
  expect(items.map(({ type, id }) => `${type} ${id}`)).toEqual(ids.map((id) => `Patient Basic/1#${id}`))
  expect(read).toHaveBeenCalledTimes(1)
})
