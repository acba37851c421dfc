import { Session } from 'node:inspector/promises'
import { createContext } from 'fhir-ops/context'
import { definitionEntries } from 'fhir-ops/internal/content'
import { expand, toValueSet } from 'fhir-ops/expand'
import { lookup } from 'fhir-ops/lookup'
import { memoryStorage } from 'fhir-ops/memory'
import { putResource } from 'fhir-ops/storage'
import { translate } from 'fhir-ops/translate'
import { expect, test } from 'vitest'

const SYSTEM = 'urn:long'
const MAP = 'urn:long-map'
const concept = Array.from({ length: 20_000 }, (_, n) => ({ code: `c${n}`, display: `Concept ${n}`, concept: [{ code: `n${n}` }] }))
const element = Array.from({ length: 20_000 }, (_, n) => ({ code: `c${n}`, target: [{ code: `t${n}`, equivalence: 'equal' }] }))
const about = { property: [{ code: 'status', valueCode: 'retired' }], designation: [{ value: 'Other words' }] }
const RESOURCES = [
  {
    resourceType: 'CodeSystem',
    id: 's',
    url: SYSTEM,
    status: 'active',
    content: 'complete',
    concept: [...concept, { code: 'more', ...about }],
  },
  { resourceType: 'ConceptMap', id: 'm', url: MAP, status: 'active', group: [{ source: SYSTEM, target: 'urn:t', element }] },
  { resourceType: 'ValueSet', id: 'v', url: 'urn:all', status: 'active', compose: { include: [{ system: SYSTEM }] } },
]

test('what was parsed of a long code system and a long map is not kept beside their indexes, and the answers stay', async () => {
  const storage = memoryStorage(RESOURCES)
  const ctx = createContext({ storage })
  const answers = async (): Promise<unknown> => [
    (await translate(ctx, { url: MAP, coding: { system: SYSTEM, code: 'c7' } })).matches,
    (await translate(ctx, { url: MAP, coding: { system: 'urn:t', code: 't19999' }, reverse: true })).matches,
    await lookup(ctx, { system: SYSTEM, code: 'more' }),
    await lookup(ctx, { system: SYSTEM, code: 'n19999' }),
    toValueSet(await expand(ctx, { url: 'urn:all', count: 3, offset: 39_999 })),
  ]
  const first = await answers()
  const parsed = await Promise.all([parsedOf('CodeSystem', 's'), parsedOf('ConceptMap', 'm')])
  await collected()
  expect(parsed.map((one) => one.deref())).toEqual([undefined, undefined])
  // A write, after which definitions are looked up anew.
  await storage.write([putResource({ type: 'Basic', id: 'b', source: { resourceType: 'Basic' } }, definitionEntries)])
  expect(withoutStamps(await answers())).toEqual(withoutStamps(first))
  const again = await storage.read('CodeSystem', 's')
  expect(again?.resource.concept).toHaveLength(20_001)

  async function parsedOf(type: string, id: string): Promise<WeakRef<object>> {
    const stored = await storage.read(type, id)
    if (stored === undefined) throw new Error(`There is no ${type}/${id}`)
    return new WeakRef(stored.resource)
  }
})

/** Without identifier and time of an expansion. */
function withoutStamps(answers: unknown): unknown {
  return JSON.parse(JSON.stringify(answers, (name, value: unknown) => (name === 'identifier' || name === 'timestamp' ? undefined : value)))
}

/** What is no longer used is collected after the task that used it. */
async function collected(): Promise<void> {
  const session = new Session()
  session.connect()
  await new Promise((resolve) => setTimeout(resolve))
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}
