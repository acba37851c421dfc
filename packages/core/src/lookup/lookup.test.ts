import { describe, expect, it } from 'vitest'
import { call, callByGet, codeSystem, contextOf, cs, LIVING } from '../../test/terminology-content.js'
import { createContext, forRequest } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import { lookup } from './index.js'
import { lookupOperation } from '../operations/index.js'

const SUPPLEMENT = {
  resourceType: 'CodeSystem',
  url: cs('more'),
  version: '2',
  status: 'active',
  content: 'supplement',
  supplements: cs('living'),
  concept: [{ code: 'cat', designation: [{ language: 'nl', value: 'Kat' }] }],
}
const ctx = contextOf(LIVING, SUPPLEMENT, codeSystem('twin', [{ code: 'cat' }]))
const system = cs('living')

describe('a lookup', () => {
  it('gives name, version, display, definition and whether the concept is abstract or inactive', async () => {
    const found = await lookup(ctx, { system, code: 'lion' })
    expect(found).toMatchObject({ name: 'living', version: '1.0.0', code: 'lion', display: 'Lion', abstract: false })
    expect(found.properties).toEqual([{ code: 'inactive', value: ['valueBoolean', true] }])
    expect(await lookup(ctx, { system, code: 'animal' })).toMatchObject({ abstract: true })
  })

  it('gives parents, children and every stated property when all are asked for', async () => {
    const { properties } = await lookup(ctx, { system, code: 'cat', properties: ['*'] })
    expect(properties.map(({ code, value, description }) => [code, value[1], description])).toEqual([
      ['inactive', false, undefined],
      ['parent', 'animal', 'Animal'],
      ['child', 'lion', 'Lion'],
      ['legs', 4, undefined],
    ])
    expect((await lookup(ctx, { system, code: 'cat', properties: ['legs'] })).properties.map(({ code }) => code)).toEqual([
      'inactive',
      'legs',
    ])
  })

  it('of a version that a version check forbids is refused', async () => {
    const check = new Map([[system, '2.x.x']])
    await expect(lookup(ctx, { system, version: '1.0.0', code: 'cat', rules: { check } })).rejects.toMatchObject({
      code: 'unprocessable',
      expression: ['version'],
      detail: { messageId: 'VALUESET_VERSION_CHECK' },
    })
    const allowed = { check: new Map([[system, '1.x.x']]) }
    expect((await lookup(ctx, { system, version: '1.0.0', code: 'cat', rules: allowed })).version).toBe('1.0.0')
  })

  it('keeps the display among the designations where a text in another language is shown instead, of a code system without language, too', async () => {
    const plain = codeSystem('plain', [{ code: 'cat', display: 'Cat', designation: [{ language: 'de', value: 'Katze' }] }], {
      language: undefined,
    })
    const texts = async (displayLanguage: string): Promise<readonly (string | undefined)[]> => {
      const found = await lookup(contextOf(plain), { system: cs('plain'), code: 'cat', displayLanguage })
      return [found.display, ...found.designations.map(({ value }) => value)]
    }
    expect(await texts('de')).toEqual(['Katze', 'Cat', 'Katze'])
    expect(await texts('en')).toEqual(['Cat', 'Katze'])
  })

  it('gives all designations, and those of a supplement when it is used', async () => {
    const texts = async (useSupplement: readonly string[]): Promise<readonly string[]> =>
      (await lookup(ctx, { system, code: 'cat', useSupplement })).designations.map(({ value, supplement }) =>
        `${value} ${supplement ?? ''}`.trim(),
      )
    expect(await texts([])).toEqual(['Cat', 'Katze', 'Chat'])
    expect(await texts([cs('more')])).toEqual(['Cat', 'Katze', 'Chat', `Kat ${cs('more')}|2`])
  })

  it.each([
    [['lang.de'], 'Katze'],
    [['lang.DE', 'legs'], 'Katze'],
    [['lang.de', 'lang.fr'], 'Katze Chat'],
    [['lang.en'], 'Cat'],
    [['lang.en-GB'], ''],
    [['lang.de', 'designation'], 'Cat Katze Chat'],
    [['lang.de', '*'], 'Cat Katze Chat'],
    [['legs'], 'Cat Katze Chat'],
  ])('of the properties %j gives these designations: %s', async (properties, values) => {
    const { designations } = await lookup(ctx, { system, code: 'cat', properties })
    expect(designations.map(({ value }) => value).join(' ')).toBe(values)
  })

  it.each([
    [{ system, code: 'cow' }, 'not-found'],
    [{ system, code: '__proto__' }, 'not-found'],
    [{ system: cs('gone'), code: 'cat' }, 'not-found'],
    [{ system, version: '9', code: 'cat' }, 'not-found'],
    [{ system, code: 'cat', useSupplement: [cs('gone')] }, 'content-not-found'],
    [{ system: cs('twin'), code: 'cat', useSupplement: [cs('more')] }, 'content-not-found'],
  ])('of %j is refused with %s', async (input, code) => {
    await expect(lookup(ctx, input)).rejects.toMatchObject({ code })
  })
})

describe('a lookup beside a code system that comes with the request', () => {
  const given = codeSystem('living', [{ code: 'unicorn', display: 'Unicorn' }])
  const stored = createContext({ storage: memoryStorage([{ ...LIVING, id: 'living' }]) })
  const ask = (...more: readonly JsonObject[]): Promise<JsonObject> =>
    call(lookupOperation, stored, [{ name: 'system', valueUri: system }, ...more, { name: 'tx-resource', resource: given }])

  it('asks that one, although a version of it is stored', async () => {
    expect(JSON.stringify(await ask({ name: 'code', valueCode: 'unicorn' }))).toContain('Unicorn')
    await expect(ask({ name: 'code', valueCode: 'cat' })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('asks the stored one by its version', async () => {
    const found = await ask({ name: 'code', valueCode: 'cat' }, { name: 'version', valueString: '1.0.0' })
    expect(JSON.stringify(found)).toContain('Cat')
  })
})

describe('a lookup in a code system that is not known', () => {
  const about = `A definition for CodeSystem '${cs('gone')}'`
  it.each([
    [{ system: cs('gone'), code: 'cat' }, `${about} could not be found, so the code cannot be looked up`],
    [
      { system: cs('gone'), code: 'cat', version: '1' },
      `${about} version '1' could not be found, so the code cannot be looked up. No versions of this code system are known`,
    ],
    [
      { system, code: 'cat', version: '9' },
      `A definition for CodeSystem '${system}' version '9' could not be found, so the code cannot be looked up. Valid versions: 1.0.0`,
    ],
    [
      { system: cs('absent'), code: 'cat' },
      `CodeSystem '${cs('absent')}' could not be found, so the code cannot be looked up: the content of its definition is 'not-present'`,
    ],
    [
      { system: `${system}|1.0.0`, code: 'cat' },
      `CodeSystem '${system}|1.0.0' could not be found, so the code cannot be looked up: a system is a url without '|' and version`,
    ],
    [
      { system: cs('more'), code: 'cat' },
      `CodeSystem '${cs('more')}' could not be found, so the code cannot be looked up: it is a supplement of another code system`,
    ],
  ])('of %j says what cannot be done', async (input, message) => {
    const more = codeSystem('more', [{ code: 'cat' }], { content: 'supplement', supplements: system })
    const absent = codeSystem('absent', [], { content: 'not-present' })
    await expect(lookup(forRequest(ctx, { resources: [more, absent] }), input)).rejects.toThrow(message)
  })
})

it.each([
  ['de;q=0.1, *;q=0.9', 'german', 'Cat'],
  ['de;q=0, *', 'german', 'Cat'],
  ['de;q=0.1, *;q=0.9', 'living', 'Cat'],
  ['en;q=0.1, fr;q=0.2, *', 'living', 'Katze'],
  ['de;q=0.1, en;q=0.2, fr;q=0.3, *', 'german', 'Cat'],
  ['de;q=0.1, *;q=0.9', 'alone', 'Katze'],
])('%j prefers any other language to those of a smaller weight: %s', async (displayLanguage, name, display) => {
  const german = codeSystem('german', [{ code: 'cat', display: 'Katze', designation: [{ language: 'en', value: 'Cat' }] }], {
    language: 'de',
  })
  const alone = codeSystem('alone', [{ code: 'cat', display: 'Katze' }], { language: 'de' })
  const found = await lookup(contextOf(LIVING, german, alone), { system: cs(name), code: 'cat', displayLanguage })
  expect(found.display).toBe(display)
})

describe('the operation', () => {
  it('takes code and system, or a coding', async () => {
    const byCode = await callByGet(lookupOperation, ctx, `system=${system}&code=cat`)
    expect(await call(lookupOperation, ctx, [{ name: 'coding', valueCoding: { system, code: 'cat' } }])).toEqual(byCode)
  })

  it.each([
    ['version', { version: '2' }],
    ['system', { system: cs('twin') }],
  ])('refuses a coding whose %s is another one than that beside it', async (name, other) => {
    const parameters = [
      { name: 'coding', valueCoding: { system, code: 'cat', version: '1.0.0' } },
      ...Object.entries(other).map(([key, valueString]) => ({ name: key, valueString })),
    ]
    await expect(call(lookupOperation, ctx, parameters)).rejects.toMatchObject({
      code: 'parameter-invalid',
      message: expect.stringContaining(`The ${name} of the coding`),
    })
  })

  it('takes the CodeSystem itself, in its own version', async () => {
    const codeSystem = { ...LIVING, version: '0.1', concept: [{ code: 'cat', display: 'Tom' }] }
    const given = { name: 'codeSystem', resource: codeSystem }
    const answer = await call(lookupOperation, ctx, [given, { name: 'code', valueCode: 'cat' }])
    expect(answer['parameter']).toContainEqual({ name: 'display', valueString: 'Tom' })
    expect(await lookup(ctx, { system, code: 'cat', codeSystem })).toMatchObject({ display: 'Tom', version: '0.1' })
    for (const other of [{ system: cs('twin') }, { system, version: '1.0.0' }])
      await expect(lookup(ctx, { ...other, code: 'cat', codeSystem })).rejects.toMatchObject({ code: 'parameter-invalid' })
  })

  it('takes a CodeSystem without version before others of its url that have one', async () => {
    const codeSystem = { ...LIVING, version: undefined, concept: [{ code: 'cat', display: 'Tom' }] }
    const found = await lookup(ctx, { system, code: 'cat', codeSystem })
    expect([found.display, found.version]).toEqual(['Tom', undefined])
    await expect(lookup(ctx, { system, code: 'cat', version: '1.0.0', codeSystem })).rejects.toMatchObject({ code: 'parameter-invalid' })
  })

  it.each(['code=cat', `system=${system}`, ''])('needs both: %j', async (query) => {
    await expect(callByGet(lookupOperation, ctx, query)).rejects.toMatchObject({ code: 'parameter-required' })
  })
})
