import { describe, expect, it } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { lookup } from 'fhir-ops/lookup'
import { memoryConceptStore, memoryStorage } from 'fhir-ops/memory'
import { pickListedVersion, listedSystem, storeConcepts } from './listed-system.js'

describe('the version that is meant', () => {
  it.each([
    [['2.9', '2.82'], undefined, '2.82'],
    [['2.9', '2.82'], '2.9', '2.9'],
    [['2.82'], '2.81', undefined],
    [['01052026', '11032025'], undefined, '01052026'],
    [['01052026', '11032025'], '11032025', '11032025'],
    [[], undefined, undefined],
  ])('among %j, asked for %s, is %s', (versions, asked, picked) => {
    expect(pickListedVersion(versions, asked)).toBe(picked)
  })
})

describe('a stored list of concepts', () => {
  const system = { resourceType: 'CodeSystem', url: 'urn:test:many', version: '1', status: 'active', content: 'complete' }
  const concepts = Array.from({ length: 12_000 }, (_, i) => ({ code: `c${i}`, display: `Concept ${i}` }))

  it('gives back every concept in its order', async () => {
    const store = memoryConceptStore()
    expect(await storeConcepts(store, system, concepts)).toMatchObject({ version: '1', concepts: 12_000 })
    const ctx = createContext({ storage: memoryStorage(), concepts: store, codeSystems: [listedSystem({ url: system.url, name: 'Many' })] })
    expect(await lookup(ctx, { system: system.url, code: 'c11999' })).toMatchObject({ display: 'Concept 11999' })
    const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: system.url }] } }
    const page = await expand(ctx, { valueSet, offset: 5_000, count: 2 })
    expect([page.total, page.contains.map(({ code }) => code)]).toEqual([12_000, ['c5000', 'c5001']])
  })

  it('lets other work run while it is read', async () => {
    const store = memoryConceptStore()
    const many = Array.from({ length: 60_000 }, (_, i) => ({ code: `c${i}`, display: `Concept ${i}` }))
    await storeConcepts(store, system, many)
    const ctx = createContext({ storage: memoryStorage(), concepts: store, codeSystems: [listedSystem({ url: system.url, name: 'Many' })] })
    let beats = 0
    const beat = setInterval(() => beats++)
    await lookup(ctx, { system: system.url, code: 'c59999' })
    clearInterval(beat)
    expect(beats).toBeGreaterThan(0)
  })

  it('is refused when its header is damaged', async () => {
    const store = memoryConceptStore()
    const staged = await store.stage({ url: system.url, version: '1', format: 'concepts-1', concepts: 1, header: '{}' })
    await staged.publish()
    const ctx = createContext({ storage: memoryStorage(), concepts: store, codeSystems: [listedSystem({ url: system.url, name: 'Many' })] })
    for (const code of ['c1', 'c2'])
      await expect(lookup(ctx, { system: system.url, code })).rejects.toMatchObject({ code: 'storage-damaged' })
  })

  it('needs url and version', async () => {
    await expect(storeConcepts(memoryConceptStore(), { url: 'urn:test:x' }, [])).rejects.toThrow('url and version')
  })
})
