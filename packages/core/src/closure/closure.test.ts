import { describe, expect, it } from 'vitest'
import { call, codeSystem, contextOf, cs, LIVING } from '../../test/terminology-content.js'
import { definitionEntries } from '../content/index.js'
import { createContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import { putResource } from '../storage/index.js'
import { snomed, SNOMED } from '@fhir-ops/snomed'
import { ID, importSynthetic } from '../../../snomed/src/synthetic.fixture.js'
import { closure, type ClosureResult } from './index.js'
import { closureOperation } from '../operations/index.js'

const concepts = (...codes: readonly string[]): readonly { system: string; code: string }[] =>
  codes.map((code) => ({ system: cs('living'), code }))
const rows = ({ entries }: ClosureResult): readonly string[] => entries.map(({ code, target }) => `${code}<${target}`).sort()

describe('a closure table', () => {
  it('returns with each addition what is above and below the new codes, and every pair once', async () => {
    const ctx = contextOf(LIVING)
    expect(await closure(ctx, { name: 't' })).toMatchObject({ name: 't', version: '0', entries: [] })
    expect(rows(await closure(ctx, { name: 't', concepts: concepts('lion', 'dog') }))).toEqual([])
    const second = await closure(ctx, { name: 't', concepts: concepts('animal', 'cat', 'lion', 'animal') })
    expect([second.version, rows(second)]).toEqual(['2', ['cat<animal', 'dog<animal', 'lion<animal', 'lion<cat']])
    expect(rows(await closure(ctx, { name: 't', concepts: concepts('cat') }))).toEqual([])
  })

  it.each([
    ['', 'parameter-value'],
    [' ', 'parameter-value'],
    ['t ', 'parameter-value'],
    ['x'.repeat(257), 'parameter-too-long'],
  ])('is not named %j', async (name, code) => {
    await expect(closure(contextOf(LIVING), { name })).rejects.toMatchObject({ code })
  })

  it('has no pairs of a hierarchy of parts, which is not one of kinds', async () => {
    const body = codeSystem('body', [{ code: 'hand', concept: [{ code: 'finger' }] }], { hierarchyMeaning: 'part-of' })
    const ctx = contextOf(body)
    await closure(ctx, { name: 't' })
    const codes = ['hand', 'finger'].map((code) => ({ system: cs('body'), code }))
    expect(await closure(ctx, { name: 't', concepts: codes })).toMatchObject({ version: '1', entries: [] })
  })

  it('returns again what was added since a version', async () => {
    const ctx = contextOf(LIVING)
    await closure(ctx, { name: 't' })
    await closure(ctx, { name: 't', concepts: concepts('lion', 'cat') })
    await closure(ctx, { name: 't', concepts: concepts('animal') })
    const since = async (version: string): Promise<readonly string[]> => rows(await closure(ctx, { name: 't', since: version }))
    expect(await since('0')).toEqual(['cat<animal', 'lion<animal', 'lion<cat'])
    expect(await since('1')).toEqual(['cat<animal', 'lion<animal'])
    expect(await since('2')).toEqual([])
    for (const version of ['3', '-1', 'x', '1.5'])
      await expect(closure(ctx, { name: 't', since: version })).rejects.toMatchObject({ code: 'parameter-value' })
  })

  it('is empty again after a call without concepts', async () => {
    const ctx = contextOf(LIVING)
    await closure(ctx, { name: 't' })
    await closure(ctx, { name: 't', concepts: concepts('lion', 'cat') })
    await closure(ctx, { name: 't', concepts: concepts('animal') })
    const anew = await closure(ctx, { name: 't' })
    expect(anew).toMatchObject({ name: 't', version: '3', entries: [] })
    await closure(ctx, { name: 't', concepts: concepts('lion', 'animal') })
    expect(rows(await closure(ctx, { name: 't', since: anew.version }))).toEqual(['lion<animal'])
    for (const since of ['0', '2']) await expect(closure(ctx, { name: 't', since })).rejects.toMatchObject({ code: 'parameter-value' })
  })

  it('loses nothing when several requests add at once', async () => {
    const ctx = contextOf(LIVING)
    await closure(ctx, { name: 't' })
    await Promise.all(['lion', 'cat', 'animal'].map((code) => closure(ctx, { name: 't', concepts: concepts(code) })))
    expect(rows(await closure(ctx, { name: 't', since: '0' }))).toEqual(['cat<animal', 'lion<animal', 'lion<cat'])
  })

  it.each([
    [{ name: 'never', concepts: concepts('cat') }, 'not-found'],
    [{ name: 'never', since: '0' }, 'not-found'],
    [{ name: 't', concepts: concepts('cow') }, 'not-found'],
    [{ name: 't', concepts: [{ system: cs('gone'), code: 'cat' }] }, 'not-found'],
    [{ name: 't', concepts: concepts('cat'), since: '0' }, 'parameter-invalid'],
  ])('refuses %j with %s', async (input, code) => {
    const ctx = contextOf(LIVING)
    await closure(ctx, { name: 't' })
    await expect(closure(ctx, input)).rejects.toMatchObject({ code })
  })
})

describe('a closure table over versions', () => {
  const system = cs('versions')
  const nested = (version: string, top: string, below: string): JsonObject =>
    codeSystem('versions', [{ code: top, concept: [{ code: below }] }, { code: 'x' }], { version })
  const older = nested('1', 'a', 'b')
  const storage = memoryStorage([{ ...older, id: 'older' }])
  const ctx = createContext({ storage })

  it('stays with the version of its first codes', async () => {
    await closure(ctx, { name: 't' })
    expect(rows(await closure(ctx, { name: 't', concepts: [{ system, code: 'a' }] }))).toEqual([])
    const newer = nested('2', 'b', 'a')
    await storage.write([putResource({ type: 'CodeSystem', id: 'newer', source: newer }, definitionEntries)])
    expect(rows(await closure(ctx, { name: 't', concepts: [{ system, code: 'b' }] }))).toEqual(['b<a'])
    await expect(closure(ctx, { name: 't', concepts: [{ system, version: '2', code: 'x' }] })).rejects.toMatchObject({
      code: 'parameter-invalid',
    })
    expect(rows(await closure(ctx, { name: 't', since: '0' }))).toEqual(['b<a'])
  })

  it('takes the newest when it is made anew', async () => {
    await closure(ctx, { name: 't' })
    expect(
      rows(
        await closure(ctx, {
          name: 't',
          concepts: [
            { system, code: 'a' },
            { system, code: 'b' },
          ],
        }),
      ),
    ).toEqual(['a<b'])
  })

  it('refuses codes of two versions, and adds none of them', async () => {
    await closure(ctx, { name: 'two' })
    const mixed = [
      { system, version: '1', code: 'a' },
      { system, version: '2', code: 'b' },
    ]
    await expect(closure(ctx, { name: 'two', concepts: mixed })).rejects.toMatchObject({ code: 'parameter-invalid' })
    expect(await closure(ctx, { name: 'two', since: '0' })).toMatchObject({ version: '0' })
  })

  it('is refused when its version is not known any more', async () => {
    await closure(ctx, { name: 'old' })
    await closure(ctx, { name: 'old', concepts: [{ system, version: '1', code: 'a' }] })
    await storage.write([{ op: 'delete', type: 'CodeSystem', id: 'older' }])
    await expect(closure(ctx, { name: 'old', concepts: [{ system, code: 'b' }] })).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('odd hierarchies', () => {
  const property = (code: string, ...parents: readonly string[]): JsonObject => ({
    code,
    property: parents.map((parent) => ({ code: 'parent', valueCode: parent })),
  })
  const GRAPH = codeSystem('graph', [
    property('top'),
    property('left', 'top'),
    property('right', 'top'),
    property('both', 'left', 'right'),
    property('one', 'two'),
    property('two', 'one'),
  ])
  const FOLDED = codeSystem('folded', [{ code: 'Up', concept: [{ code: 'Down' }] }], { caseSensitive: false })
  const ctx = contextOf(GRAPH, FOLDED, LIVING)
  const added = async (system: string, ...codes: readonly string[]): Promise<readonly string[]> => {
    await closure(ctx, { name: system })
    return rows(await closure(ctx, { name: system, concepts: codes.map((code) => ({ system: cs(system), code })) }))
  }

  it.each([
    ['graph', ['both', 'left', 'top'], ['both<left', 'both<top', 'left<top']],
    ['graph', ['one', 'two'], ['one<two', 'two<one']],
    ['folded', ['down', 'DOWN', 'up'], ['Down<Up']],
  ])('of %s: %j gives %j', async (system, codes, expected) => {
    expect(await added(system, ...codes)).toEqual(expected)
  })

  it('codes of several systems stand side by side', async () => {
    await closure(ctx, { name: 'side' })
    const both = [...concepts('cat', 'animal'), { system: cs('graph'), code: 'left' }, { system: cs('graph'), code: 'top' }]
    expect(rows(await closure(ctx, { name: 'side', concepts: both }))).toEqual(['cat<animal', 'left<top'])
  })
})

describe('postcoordinated codes', () => {
  it('have their places among concepts and each other', async () => {
    const ctx = createContext({
      storage: memoryStorage(),
      codeSystems: [snomed()],
      concepts: await importSynthetic('http://snomed.info/sct/900000000000207008/version/20240101'),
    })
    const narrow = `${ID.disorder}:${ID.site}=${ID.lobe}`
    const wide = `${ID.disorder}:${ID.site}=${ID.organ}`
    const names = new Map([[narrow, 'narrow'], [wide, 'wide'], ...Object.entries(ID).map(([name, id]) => [id, name] as const)])
    const add = async (...codes: readonly string[]): Promise<readonly string[]> =>
      (await closure(ctx, { name: 't', concepts: codes.map((code) => ({ system: SNOMED, code })) })).entries
        .map(({ code, target }) => `${names.get(code)}<${names.get(target)}`)
        .toSorted()
    await closure(ctx, { name: 't' })
    expect(await add(narrow, ID.disorder)).toEqual(['narrow<disorder'])
    expect(await add(wide)).toEqual(['narrow<wide', 'wide<disorder'])
    expect(await add(ID.organDisorder)).toEqual(expect.arrayContaining(['narrow<organDisorder', 'organDisorder<disorder']))
  })
})

describe('the operation', () => {
  const at = (ctx: ReturnType<typeof contextOf>, ...parameter: readonly JsonObject[]): Promise<JsonObject> =>
    call(closureOperation, ctx, parameter)
  const name = { name: 'name', valueString: 'constructor' }

  it('answers with a ConceptMap in which the broader code subsumes the narrower', async () => {
    const ctx = contextOf(LIVING)
    expect(await at(ctx, name)).toMatchObject({ resourceType: 'ConceptMap', version: '0' })
    const coding = (code: string): JsonObject => ({ name: 'concept', valueCoding: { system: cs('living'), code } })
    expect(await at(ctx, name, coding('lion'), coding('cat'))).toMatchObject({
      version: '1',
      group: [
        { source: cs('living'), target: cs('living'), element: [{ code: 'lion', target: [{ code: 'cat', equivalence: 'subsumes' }] }] },
      ],
    })
  })

  it.each([
    [[], 'parameter-required'],
    [[{ name: 'name', valueString: 'x'.repeat(257) }], 'parameter-too-long'],
    [[name, { name: 'concept', valueCoding: { code: 'cat' } }], 'parameter-value'],
    [[name, { name: 'concept', valueString: 'cat' }], 'parameter-value'],
  ])('refuses %j with %s', async (parameter, code) => {
    await expect(at(contextOf(LIVING), ...(parameter as JsonObject[]))).rejects.toMatchObject({ code })
  })
})
