import { describe, expect, it } from 'vitest'
import { codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../../test/terminology-content.js'
import type { ComputedSystem } from '../../code-system/index.js'
import { compare } from '../../compare/index.js'
import { definitionEntries } from '../../content/index.js'
import { createCache, createContext, forRequest, type OperationContext } from '../../context/index.js'
import { expand } from '../../expand/index.js'
import type { JsonObject } from '../../json/index.js'
import { memoryConceptStore, memoryStorage } from '../../memory/index.js'
import { putResource, type Storage } from '../../storage/index.js'
import { translate } from '../../translate/index.js'
import { validateCode } from '../../validate-code/index.js'
import { createBindingChecker } from '../binding.js'
import { listedSystem, storeConcepts } from '@fhir-ops/loinc-rxnorm'

const stored = (id: string, resource: JsonObject): JsonObject => ({ ...resource, id })
const ALL = stored('all', valueSet('all', { include: [{ valueSet: [vs('cats')] }] }))
const CATS = stored(
  'cats',
  valueSet('cats', { include: [{ system: cs('living'), filter: [{ property: 'concept', op: 'is-a', value: 'cat' }] }] }),
)
const LIONS = stored('cats', valueSet('cats', { include: [{ system: cs('living'), concept: [{ code: 'lion' }] }] }))
const SYSTEM = stored('living', LIVING)
const MAP = { resourceType: 'ConceptMap', id: 'm', url: 'http://example.org/m', status: 'active' }
const mapTo = (code: string): JsonObject => ({
  ...MAP,
  group: [{ source: cs('living'), target: 'http://example.org/t', element: [{ code: 'cat', target: [{ code, equivalence: 'equal' }] }] }],
})

async function put(storage: Storage, resource: JsonObject): Promise<void> {
  await storage.write([
    putResource({ type: String(resource['resourceType']), id: String(resource['id']), source: resource }, definitionEntries),
  ])
}

async function isMember(ctx: OperationContext, url: string, [system, code]: readonly [string, string]): Promise<boolean> {
  const { result } = await validateCode(ctx, { url, coding: { system, code } })
  return result
}

const codesIn = async (ctx: OperationContext, url: string): Promise<readonly string[]> =>
  (await expand(ctx, { url, excludeNested: true })).contains.map(({ code }) => code)

describe('a supplement that an imported value set requires', () => {
  const MORE = codeSystem('more', [{ code: 'cat', property: [{ code: 'colour', valueCode: 'red' }], designation: [{ value: 'Mieze' }] }], {
    content: 'supplement',
    supplements: cs('living'),
  })
  const REQUIRES = { url: 'http://hl7.org/fhir/StructureDefinition/valueset-supplement', valueCanonical: cs('more') }
  const RED = valueSet(
    'red',
    { include: [{ system: cs('living'), filter: [{ property: 'colour', op: '=', value: 'red' }] }] },
    { extension: [REQUIRES] },
  )
  const OVER = valueSet('over', { include: [{ valueSet: [vs('red')] }] })
  const OVER_ALL = valueSet('over-all', { include: [{ valueSet: [vs('over')] }] })

  it('is used by those that import it, however far away', async () => {
    const ctx = contextOf(LIVING, MORE, RED, OVER, OVER_ALL)
    for (const url of [vs('red'), vs('over'), vs('over-all')]) {
      expect(await codesIn(ctx, url)).toEqual(['cat'])
      const coding = { system: cs('living'), code: 'cat', display: 'Mieze' }
      expect(await validateCode(ctx, { url, coding })).toMatchObject({ result: true, issues: [] })
      expect(await isMember(ctx, url, [cs('living'), 'dog'])).toBe(false)
      expect(await createBindingChecker(ctx).memberOf(url, { system: cs('living'), code: 'cat' })).toBe(true)
      const compared = await compare(ctx, { thisValueSet: { url }, otherValueSet: { url: vs('red') } })
      expect(compared.relationship).toBe('same')
    }
    const { explanation } = await expand(ctx, { url: vs('over-all'), explain: true })
    expect(explanation?.steps.filter(({ kind }) => kind === 'supplement').map(({ definition }) => definition)).toEqual([cs('more')])
  })

  it('may be named very often', async () => {
    const again = {
      ...RED,
      extension: Array.from({ length: 40_000 }, (_, i) => ({ ...REQUIRES, valueCanonical: cs(i < 20_000 ? 'more' : 'further') })),
    }
    const ctx = contextOf(LIVING, MORE, { ...MORE, url: cs('further') }, again, OVER)
    expect(await codesIn(ctx, vs('over'))).toEqual(['cat'])
  })

  it('must exist', async () => {
    await expect(codesIn(contextOf(LIVING, RED, OVER), vs('over'))).rejects.toMatchObject({ code: 'content-not-found' })
  })
})

describe('what was looked up', () => {
  it('is kept while nothing is written', async () => {
    const storage = memoryStorage([ALL, CATS, SYSTEM])
    let searches = 0
    const counted: Storage = {
      ...storage,
      search: (query) => {
        searches++
        return storage.search(query)
      },
    }
    const ctx = createContext({ storage: counted })
    expect(await codesIn(ctx, vs('all'))).toEqual(['cat', 'lion'])
    const first = searches
    expect(await codesIn(ctx, vs('all'))).toEqual(['cat', 'lion'])
    expect(await isMember(ctx, vs('all'), [cs('living'), 'cat'])).toBe(true)
    expect(searches).toBe(first)
  })

  it.each([
    ['an imported value set', LIONS, ['lion']],
    ['the code system', stored('living', codeSystem('living', [{ code: 'cat' }])), ['cat']],
    ['a newer version of the value set', stored('new', { ...LIONS, version: '2' }), ['lion']],
  ])('follows a write of %s', async (_, resource, codes) => {
    const storage = memoryStorage([ALL, CATS, SYSTEM])
    const ctx = createContext({ storage })
    expect(await codesIn(ctx, vs('all'))).toEqual(['cat', 'lion'])
    await put(storage, resource)
    expect(await codesIn(ctx, vs('all'))).toEqual(codes)
    expect(await isMember(ctx, vs('all'), [cs('living'), 'cat'])).toBe(codes.includes('cat'))
  })

  it('follows a deletion', async () => {
    const storage = memoryStorage([CATS, SYSTEM])
    const ctx = createContext({ storage })
    expect(await isMember(ctx, vs('cats'), [cs('living'), 'cat'])).toBe(true)
    await storage.write([{ op: 'delete', type: 'ValueSet', id: 'cats' }])
    await expect(isMember(ctx, vs('cats'), [cs('living'), 'cat'])).rejects.toMatchObject({ code: 'not-found' })
  })

  it('follows an import of a code system', async () => {
    const concepts = memoryConceptStore()
    const ctx = createContext({
      storage: memoryStorage([stored('listed', valueSet('listed', { include: [{ system: cs('listed') }] }))]),
      concepts,
      codeSystems: [listedSystem({ url: cs('listed'), name: 'Listed' })],
    })
    const system = { resourceType: 'CodeSystem', url: cs('listed'), status: 'active', content: 'complete' }
    await storeConcepts(concepts, { ...system, version: '1' }, [{ code: 'one' }])
    expect(await codesIn(ctx, vs('listed'))).toEqual(['one'])
    await storeConcepts(concepts, { ...system, version: '2' }, [{ code: 'two' }])
    expect(await codesIn(ctx, vs('listed'))).toEqual(['two'])
  })

  it('follows a write of a map', async () => {
    const storage = memoryStorage([mapTo('first')])
    const ctx = createContext({ storage })
    const input = { url: MAP.url, coding: { system: cs('living'), code: 'cat' } }
    expect((await translate(ctx, input)).matches[0]?.concept?.code).toBe('first')
    await put(storage, mapTo('second'))
    expect((await translate(ctx, input)).matches[0]?.concept?.code).toBe('second')
  })

  it('is not what came with a request, nor does a request get what is kept in its place', async () => {
    const ctx = createContext({ storage: memoryStorage([CATS, SYSTEM]) })
    const own = forRequest(ctx, { resources: [LIONS] })
    expect(await codesIn(ctx, vs('cats'))).toEqual(['cat', 'lion'])
    expect(await codesIn(own, vs('cats'))).toEqual(['lion'])
    expect(await codesIn(ctx, vs('cats'))).toEqual(['cat', 'lion'])
  })

  it('is forgotten when the cache had no room for what it holds', async () => {
    const ctx = createContext({ storage: memoryStorage([CATS, SYSTEM]), cache: createCache({ maxBytes: 10 }) })
    const before = ctx.content.kept?.()
    await codesIn(ctx, vs('cats'))
    expect(ctx.content.kept?.()).not.toBe(before)
  })

  it('does not gather the codes that a system makes', async () => {
    let made = 0
    const even: ComputedSystem = {
      url: cs('even'),
      name: 'Even',
      caseSensitive: true,
      find: (code) => {
        made++
        return Number(code) % 2 === 0 ? { code } : undefined
      },
    }
    const ctx = createContext({
      storage: memoryStorage([stored('even', valueSet('even', { include: [{ system: cs('even') }] }))]),
      codeSystems: [even],
    })
    for (const _ of [1, 2]) expect(await isMember(ctx, vs('even'), [cs('even'), '4'])).toBe(true)
    expect(made).toBe(2)
  })

  it('is nothing over a storage that cannot tell of its changes', () => {
    const { revision: _, ...storage } = memoryStorage()
    expect(createContext({ storage }).content.kept?.()).toBeUndefined()
  })
})
