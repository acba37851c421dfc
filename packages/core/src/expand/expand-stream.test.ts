import { describe, expect, test } from 'vitest'
import { createContext, forRequest } from '../context/index.js'
import { memoryStorage } from '../memory/index.js'
import type { ExpandOptions } from './input.js'
import { expand, expandStream, openExpansion } from './expand.js'

const SYSTEM = 'http://example.org/numbers'
const concept = Array.from({ length: 500 }, (_, i) => ({ code: `n${i}`, display: `${i % 7 === 0 ? 'odd' : 'even'} number ${i}` }))
const numbers = { resourceType: 'CodeSystem', id: 'n', url: SYSTEM, status: 'active', content: 'complete', concept }
const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: SYSTEM }] } }
const ctx = createContext({ storage: memoryStorage([numbers]), limits: { maxExpansion: 100 } })

async function streamed(input: ExpandOptions): Promise<readonly unknown[]> {
  return collected(expandStream(ctx, { valueSet, ...input }))
}

async function collected(entries: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for await (const entry of entries) found.push(entry)
  return found
}

describe('a streamed expansion', () => {
  const rows: readonly Omit<ExpandOptions, 'count'>[] = [{}, { offset: 17 }, { filter: 'odd' }, { filter: 'num 1', offset: 3 }]
  test.each(rows)('has the entries of the pages in their order: %j', async (input) => {
    const { contains } = await expand(ctx, { valueSet, ...input, count: 1_000 })
    expect(contains.length).toBeGreaterThan(50)
    expect(await streamed(input)).toEqual(contains)
    expect(await streamed({ ...input, count: 9 })).toEqual(contains.slice(0, 9))
  })

  test('has no most number of codes, where a whole expansion has', async () => {
    await expect(expand(ctx, { valueSet })).rejects.toMatchObject({ code: 'too-costly' })
    expect(await streamed({})).toHaveLength(500)
  })

  test('ends when the caller has gone', async () => {
    const gone = forRequest(ctx, { signal: AbortSignal.abort() })
    await expect(collected(expandStream(gone, { valueSet }))).rejects.toMatchObject({ code: 'aborted' })
  })

  test('refuses what an expansion refuses', async () => {
    await expect(collected(expandStream(ctx, { url: 'http://nowhere' }))).rejects.toMatchObject({ code: 'not-found' })
  })

  test('declares every property that its entries have', async () => {
    const base = 'http://hl7.org/fhir/StructureDefinition'
    const system = 'http://example.org/stated'
    const stated = {
      resourceType: 'CodeSystem',
      url: system,
      status: 'active',
      content: 'complete',
      property: [{ code: 'w', uri: 'urn:w', type: 'code' }],
      concept: [
        {
          code: 'a',
          definition: 'First',
          extension: [{ url: `${base}/codesystem-label`, valueString: '1.' }],
          property: [
            { code: 'w', valueCode: 'x' },
            { code: 'z', valueString: 'y' },
            { code: 'status', valueCode: 'retired' },
          ],
          concept: [{ code: 'b' }],
        },
      ],
    }
    const own = forRequest(ctx, { resources: [stated] })
    const input = { valueSet: { ...valueSet, compose: { include: [{ system }] } }, properties: ['definition', 'w', 'z', 'child'] }
    const { entries, properties } = await openExpansion(own, input)
    const declared = new Map(properties.map(({ code, uri }) => [code, uri]))
    const used = (await expand(own, { ...input, excludeNested: true })).properties
    expect(used.map(({ code }) => code).toSorted()).toEqual(['child', 'definition', 'label', 'status', 'w', 'z'])
    expect(used.map(({ code }) => [code, declared.get(code)])).toEqual(used.map(({ code, uri }) => [code, uri]))
    expect(await collected(entries)).toHaveLength(2)
  })
})
