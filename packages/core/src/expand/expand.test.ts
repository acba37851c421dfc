import { describe, expect, it } from 'vitest'
import { codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import type { JsonObject } from '../json/index.js'
import { validateCode } from '../validate-code/index.js'
import { expand } from './expand.js'
import type { ExpandInput } from './input.js'
import { toValueSet, type ExpansionEntry } from './result.js'

const ALL = valueSet('all', { include: [{ system: cs('living') }] })
const CATS = valueSet(
  'cats',
  { include: [{ system: cs('living'), filter: [{ property: 'concept', op: 'is-a', value: 'cat' }] }] },
  { version: '2.0.0' },
)
const PETS = valueSet('pets', {
  include: [{ system: cs('living'), concept: [{ code: 'dog', display: 'Good dog' }, { code: 'unicorn' }, { code: 'cat' }] }],
})
const ctx = contextOf(LIVING, ALL, CATS, PETS)

/** Codes, with what is below them in brackets. */
function shape(entries: readonly ExpansionEntry[]): string {
  return entries.map(({ code, contains }) => (contains.length === 0 ? code : `${code}(${shape(contains)})`)).join(' ')
}

async function shapeOf(input: ExpandInput): Promise<string> {
  return shape((await expand(ctx, input)).contains)
}

describe('nesting', () => {
  it.each([
    ['a whole code system', { url: vs('all') }, 'animal(cat(lion) dog duck) plant'],
    ['a branch', { url: vs('cats') }, 'cat(lion)'],
    ['without inactive codes', { url: vs('cats'), activeOnly: true }, 'cat'],
    ['without abstract codes, whose children take their place', { url: vs('all'), excludeNotForUI: true }, 'cat(lion) dog duck plant'],
    ['with abstract codes', { url: vs('all'), excludeNotForUI: false }, 'animal(cat(lion) dog duck) plant'],
    ['none when it is not wanted', { url: vs('all'), excludeNested: true }, 'animal cat lion dog duck plant'],
    ['none on a page', { url: vs('all'), count: 3 }, 'animal cat lion'],
    ['none from an offset on', { url: vs('all'), offset: 4 }, 'duck plant'],
    ['none of a list of codes, which keeps its order', { url: vs('pets') }, 'dog cat'],
    ['none of a whole code system that is filtered by text', { url: vs('all'), filter: 'd' }, 'dog duck'],
    ['of a branch that is filtered by text', { url: vs('cats'), filter: 'l' }, 'lion'],
  ])('%s', async (_, input, expected) => {
    expect(await shapeOf(input)).toBe(expected)
  })

  it('keeps a code that only a supplement says to be abstract, as validation does', async () => {
    const supplement = codeSystem('no-choice', [{ code: 'cat', property: [{ code: 'notSelectable', valueBoolean: true }] }], {
      content: 'supplement',
      supplements: cs('living'),
    })
    const own = contextOf(LIVING, CATS, supplement)
    const asked = { url: vs('cats'), useSupplement: [cs('no-choice')] }
    expect(shape((await expand(own, { ...asked, excludeNotForUI: true })).contains)).toBe('cat(lion)')
    const coding = { system: cs('living'), code: 'cat' }
    expect((await validateCode(own, { ...asked, abstract: false, coding })).result).toBe(true)
  })

  it('hands the children of a missing code to the code above', async () => {
    const valueSetInline = valueSet('inline', {
      include: [{ system: cs('living'), filter: [{ property: 'concept', op: 'descendent-of', value: 'animal' }] }],
    })
    expect(await shapeOf({ valueSet: valueSetInline })).toBe('cat(lion) dog duck')
  })
})

describe('a text filter', () => {
  it.each([
    ['the display of the value set', 'puss', 'cat'],
    ['a designation of the value set', 'minette', 'cat'],
    ['the display of the code system, which is not shown', 'cat', 'cat'],
    ['words of both', 'puss katze', 'cat'],
    ['a typing error in the display of the value set', 'pusz', 'cat'],
    ['nothing of another code', 'puss dog', ''],
    ['all codes', 'd', 'dog duck'],
  ])('finds codes that a value set lists by %s', async (_, filter, expected) => {
    const designation = [{ language: 'fr', value: 'La minette' }]
    const concept = [{ code: 'dog' }, { code: 'cat', display: 'Puss', designation }, { code: 'duck', display: 'Donald duck' }]
    const own = valueSet('own', { include: [{ system: cs('living'), concept }] })
    expect(await shapeOf({ valueSet: own, filter, tolerateTypo: true })).toBe(expected)
  })

  it.each([
    ['du', 'duck'],
    ['wild duck', 'duck'],
    ['WILD', 'duck'],
    ['uck', ''],
    ['katze', 'cat'],
    ['cat', 'cat'],
    ['   ', 'animal(cat(lion) dog duck) plant'],
    ['%', ''],
    ['.*', ''],
    ['d_g', ''],
    ['\\', ''],
    ['constructor', ''],
  ])('%j finds %j', async (filter, expected) => {
    expect(await shapeOf({ url: vs('all'), filter })).toBe(expected)
  })

  it('orders by exact code, exact display, start of the display, place and length', async () => {
    const concepts = [
      { code: '1', display: 'A long word for heart' },
      { code: '2', display: 'Hearty meal' },
      { code: '3', display: 'Old heart' },
      { code: '4', display: 'Heart' },
      { code: 'heart', display: 'Something else' },
      { code: '6', display: 'Heart failure' },
    ]
    const ranking = contextOf(codeSystem('hearts', concepts), valueSet('hearts', { include: [{ system: cs('hearts') }] }))
    const { contains } = await expand(ranking, { url: vs('hearts'), filter: 'HEART' })
    expect(shape(contains)).toBe('heart 4 2 6 3 1')
    const second = await expand(ranking, { url: vs('hearts'), filter: 'HEART', offset: 2, count: 2 })
    expect([shape(second.contains), second.total]).toEqual(['2 6', 6])
  })

  it('looks at designations of supplements that are used', async () => {
    const supplement = {
      resourceType: 'CodeSystem',
      url: cs('more'),
      status: 'active',
      content: 'supplement',
      supplements: cs('living'),
      concept: [{ code: 'dog', designation: [{ value: 'Hound' }] }],
    }
    const supplemented = contextOf(LIVING, ALL, supplement)
    expect((await expand(supplemented, { url: vs('all'), filter: 'hou' })).total).toBe(0)
    const used = await expand(supplemented, { url: vs('all'), filter: 'hou', useSupplement: [cs('more')] })
    expect(shape(used.contains)).toBe('dog')
    expect(used.parameters).toContainEqual({ name: 'used-supplement', type: 'Uri', value: cs('more') })
  })

  it('refuses a supplement of a code system from which the value set takes nothing', async () => {
    const other = { ...codeSystem('more', []), content: 'supplement', supplements: cs('other') }
    const importing = valueSet('importing', { include: [{ valueSet: [vs('all')] }] })
    const own = { ...codeSystem('own', [{ code: 'cat' }]), content: 'supplement', supplements: `${cs('living')}|1.0.0` }
    const ctx = contextOf(LIVING, ALL, importing, other, own)
    await expect(expand(ctx, { url: vs('all'), useSupplement: [cs('more')] })).rejects.toMatchObject({
      code: 'content-not-found',
      message: `Required supplement not found: ${cs('more')} (it supplements ${cs('other')}, which is not used here)`,
    })
    const imported = await expand(ctx, { url: vs('importing'), useSupplement: [cs('own')] })
    expect(imported.parameters).toContainEqual({ name: 'used-supplement', type: 'Uri', value: cs('own') })
  })
})

describe('an entry', () => {
  const entry = async (input: ExpandInput, code: string): Promise<ExpansionEntry | undefined> =>
    (await expand(ctx, { ...input, excludeNested: true })).contains.find((one) => one.code === code)

  it('tells status, abstract and inactive', async () => {
    expect(await entry({ url: vs('all') }, 'animal')).toMatchObject({ abstract: true, inactive: false, properties: [] })
    expect(await entry({ url: vs('all') }, 'lion')).toMatchObject({
      inactive: true,
      properties: [{ code: 'status', value: ['valueCode', 'retired'] }],
    })
  })

  it('tells that it is active when asked only', async () => {
    const content = contextOf(
      codeSystem('s', [{ code: 'x', property: [{ code: 'status', valueCode: 'active' }] }]),
      valueSet('s', { include: [{ system: cs('s') }] }),
    )
    expect((await expand(content, { url: vs('s') })).contains[0]?.properties).toEqual([])
    expect((await expand(content, { url: vs('s'), properties: ['status'] })).contains[0]?.properties).toMatchObject([
      { code: 'status', value: ['valueCode', 'active'] },
    ])
  })

  it('tells its parents and children when asked', async () => {
    const { properties } = (await entry({ url: vs('all'), properties: ['parent', 'child'] }, 'cat')) ?? {}
    expect(properties?.map(({ code, value }) => [code, value[1]])).toEqual([
      ['parent', 'animal'],
      ['child', 'lion'],
    ])
  })

  it('has no display when the concept has none, and never its code', async () => {
    const bare = contextOf(codeSystem('bare', [{ code: 'x' }]), valueSet('bare', { include: [{ system: cs('bare') }] }))
    expect((await expand(bare, { url: vs('bare') })).contains[0]).not.toHaveProperty('display')
  })

  it('has the display of the value set that lists it', async () => {
    expect((await entry({ url: vs('pets') }, 'dog'))?.display).toBe('Good dog')
  })

  it.each([
    ['de', 'Katze', ['Chat', 'Cat']],
    ['fr-CH', 'Chat', ['Katze', 'Cat']],
    ['it', 'Cat', ['Katze', 'Chat']],
    ['it,*;q=0', undefined, ['Cat', 'Katze', 'Chat']],
    ['en', 'Cat', ['Katze', 'Chat']],
  ])('in %s is shown as %s', async (language, display, others) => {
    const found = await entry({ url: vs('cats'), includeDesignations: true, displayLanguage: language }, 'cat')
    expect(found?.display).toBe(display)
    expect(found?.designations.map(({ value }) => value).sort()).toEqual([...others].sort())
  })

  describe('that a value set lists', () => {
    const designation = [{ language: 'de', value: 'Mieze' }]
    const listing = (code: JsonObject, members: JsonObject = {}): JsonObject =>
      valueSet('own', { include: [{ system: cs('living'), concept: [{ code: 'cat', ...code }] }] }, members)
    const inGerman = listing({ display: 'Mieze' }, { language: 'de' })
    it.each([
      ['by its designation', listing({ designation }), 'de', 'Mieze'],
      ['by its designation of a region', listing({ designation: [{ language: 'de-AT', value: 'Mieze' }] }), 'de-AT', 'Mieze'],
      ['not by one for something else', listing({ designation: [{ ...designation[0], use: { code: 'short' } }] }), 'de', 'Katze'],
      ['by its display in the language of the value set', listing({ display: 'Mieze' }, { language: 'de' }), 'de', 'Mieze'],
      ['in that language without a request', listing({ display: 'Mieze' }, { language: 'de' }), undefined, 'Mieze'],
      ['by the designation of the code system in another', listing({ display: 'Mieze' }, { language: 'de' }), 'fr', 'Chat'],
      ['by the display of the code system in its language', inGerman, 'en', 'Cat'],
      ['by its display in its own, with that of the code system', inGerman, 'de', 'Mieze'],
      ['by its display where neither has a text in the language', inGerman, 'it', 'Mieze'],
      ['by the display without language in that of the code system', listing({ display: 'Kitty' }), 'en', 'Kitty'],
    ])('%s', async (_, own, displayLanguage, display) => {
      const asked = { valueSet: own, displayLanguage }
      expect((await expand(ctx, asked)).contains[0]?.display).toBe(display)
      expect((await validateCode(ctx, { ...asked, coding: { system: cs('living'), code: 'cat' } })).display).toBe(display)
    })
  })

  it('that is in no stated language is right in every language, as for $validate-code', async () => {
    const plain = contextOf(codeSystem('plain', [{ code: 'x', display: 'X' }]), valueSet('plain', { include: [{ system: cs('plain') }] }))
    const asked = { url: vs('plain'), displayLanguage: 'en, *;q=0' }
    expect((await expand(plain, asked)).contains[0]?.display).toBe('X')
    const coding = { system: cs('plain'), code: 'x', display: 'X' }
    expect(await validateCode(plain, { ...asked, coding })).toMatchObject({ result: true, display: 'X' })
  })

  it('that states no language is in that of its resource, and is written as it is stated', async () => {
    const english = codeSystem('english', [{ code: 'horse', display: 'Horse', designation: [{ value: 'Mare' }] }], { language: 'en' })
    const german = { content: 'supplement', supplements: cs('english'), language: 'de' }
    const texts = codeSystem('texts', [{ code: 'horse', designation: [{ value: 'Stute' }] }], german)
    const displays = codeSystem('displays', [{ code: 'horse', display: 'Pferd' }], german)
    const own = contextOf(english, texts, displays, valueSet('horses', { include: [{ system: cs('english') }] }))
    const shown = async (displayLanguage: string, useSupplement: readonly string[]): Promise<string | undefined> =>
      (await expand(own, { url: vs('horses'), displayLanguage, useSupplement })).contains[0]?.display
    expect(await shown('de', [cs('texts')])).toBe('Stute')
    expect(await shown('de', [cs('displays')])).toBe('Pferd')
    expect(await shown('de, *;q=0', [])).toBeUndefined()
    expect(await shown('en', [cs('texts'), cs('displays')])).toBe('Horse')
    const written = toValueSet(await expand(own, { url: vs('horses'), designations: ['urn:ietf:bcp:47|en'] }))
    expect(written.expansion?.contains?.[0]?.designation).toEqual([{ value: 'Mare' }])
  })

  it('in no language in particular is shown in that of the value set', async () => {
    const french = valueSet('french', { include: [{ system: cs('living') }] }, { language: 'fr' })
    expect((await expand(ctx, { valueSet: french, acceptLanguage: '*', filter: 'cat' })).contains[0]?.display).toBe('Chat')
  })

  it('gives designations and properties that were asked for only', async () => {
    const found = await entry({ url: vs('cats'), designations: ['urn:ietf:bcp:47|fr'], properties: ['legs', 'definition', 'wings'] }, 'cat')
    expect(found?.designations.map(({ value }) => value)).toEqual(['Chat'])
    expect(found?.properties.map(({ code, value }) => [code, value[1]])).toEqual([
      ['legs', 4],
      ['definition', 'A small one'],
    ])
    expect((await entry({ url: vs('cats') }, 'cat'))?.designations).toEqual([])
    const anyLanguage = await entry({ url: vs('cats'), designations: ['fr'] }, 'cat')
    expect(anyLanguage?.designations.map(({ value }) => value)).toEqual(['Chat'])
    const languages = await entry({ url: vs('cats'), designations: ['urn:ietf:bcp:47|'] }, 'cat')
    expect(languages?.designations.map(({ value }) => value)).toContain('Chat')
  })

  it.each([
    ['urn:ietf:bcp:47|DE', ['German']],
    ['http://use|', ['of a use']],
    ['http://use|short', ['of a use']],
    ['|short', ['of no system']],
    ['short', ['of a use', 'of no system']],
    ['http://other|', []],
    ['|', []],
  ])('gives the designations that the token %s selects, as in a search', async (token, expected) => {
    const designation = [
      { language: 'de', value: 'German' },
      { use: { system: 'http://use', code: 'short' }, value: 'of a use' },
      { use: { code: 'short' }, value: 'of no system' },
    ]
    const own = contextOf(codeSystem('uses', [{ code: 'a', designation }]), valueSet('uses', { include: [{ system: cs('uses') }] }))
    const { contains } = await expand(own, { url: vs('uses'), designations: [token] })
    expect(contains[0]?.designations.map(({ value }) => value)).toEqual(expected)
  })
})

describe('versions', () => {
  const versioned = (version: string, concept: readonly JsonObject[]): JsonObject => codeSystem('v', concept, { version })
  const include = (version?: string): JsonObject => ({ system: cs('v'), ...(version !== undefined && { version }) })
  const base = [
    versioned('1.0.0', [
      { code: 'a', display: 'A1' },
      { code: 'b', display: 'B1' },
    ]),
    versioned('1.2.0', [
      { code: 'a', display: 'A2' },
      { code: 'c', display: 'C2' },
    ]),
  ]
  const listed = async (compose: JsonObject): Promise<string> => {
    const v1 = valueSet('v1', { include: [include('1.0.0')] })
    const { contains } = await expand(contextOf(...base, v1, valueSet('v', compose)), { url: vs('v') })
    return contains.map(({ code, version, display }) => `${code}${version === undefined ? '' : `@${version}`}=${display}`).join(' ')
  }
  const match = (value: string): JsonObject => ({
    url: 'http://hl7.org/fhir/StructureDefinition/valueset-expansion-parameter',
    extension: [
      { url: 'name', valueCode: 'versionsMatch' },
      { url: 'value', valueString: value },
    ],
  })

  it.each([
    ['the newest when none is stated', { include: [include()] }, 'a=A2 c=C2'],
    ['the one that is stated', { include: [include('1.0.0')] }, 'a=A1 b=B1'],
    ['the newest that fits wild cards', { include: [include('1.x.x')] }, 'a=A2 c=C2'],
    [
      'several, kept apart, the newest first',
      { include: [include('1.0.0'), include('1.2.0')] },
      'a@1.2.0=A2 c@1.2.0=C2 a@1.0.0=A1 b@1.0.0=B1',
    ],
    [
      'several, an include without version in its place',
      { include: [include(), include('1.0.0'), include('1.2.0')] },
      'a@1.2.0=A2 c@1.2.0=C2 a@1.0.0=A1 b@1.0.0=B1',
    ],
    [
      'one by lists that state it and lists that do not, in their order',
      {
        include: [
          { ...include(), concept: [{ code: 'c' }] },
          { ...include('1.2.0'), concept: [{ code: 'a' }] },
        ],
      },
      'c@1.2.0=C2 a@1.2.0=A2',
    ],
    ['several, merged', { include: [include('1.0.0'), include('1.2.0')], extension: [match('true')] }, 'a@1.2.0=A2 c@1.2.0=C2 b@1.0.0=B1'],
    [
      'several, merged by the older form of the extension',
      {
        include: [include('1.0.0'), include('1.2.0')],
        extension: [{ ...match('true'), url: 'http://hl7.org/fhir/tools/StructureDefinition/valueset-expansion-parameter' }],
      },
      'a@1.2.0=A2 c@1.2.0=C2 b@1.0.0=B1',
    ],
    ['an exclude takes equal codes of other versions', { include: [include('1.2.0')], exclude: [include('1.0.0')] }, 'c@1.2.0=C2'],
    [
      'unless the value set says otherwise',
      { include: [include('1.2.0')], exclude: [include('1.0.0')], extension: [match('false')] },
      'a@1.2.0=A2 c@1.2.0=C2',
    ],
    [
      'a list with a version excludes that version',
      { include: [include('1.2.0')], exclude: [{ ...include('1.0.0'), concept: [{ code: 'a' }] }] },
      'a@1.2.0=A2 c@1.2.0=C2',
    ],
    [
      'a list without version excludes its codes from an older version, too',
      { include: [include('1.0.0')], exclude: [{ ...include(), concept: [{ code: 'b' }] }] },
      'a@1.0.0=A1',
    ],
    [
      'also where it excludes them from a value set',
      { include: [include('1.0.0')], exclude: [{ ...include(), concept: [{ code: 'b' }], valueSet: [vs('v1')] }] },
      'a@1.0.0=A1',
    ],
  ])('%s', async (_, compose, expected) => {
    expect(await listed(compose)).toBe(expected)
  })

  it.each([undefined, '1.0.0'])('a code that a list excludes is no member, asked in version %s', async (version) => {
    const compose = { include: [include('1.0.0')], exclude: [{ ...include(), concept: [{ code: 'b' }] }] }
    const ctx = contextOf(...base, valueSet('v', compose))
    const isMember = async (code: string): Promise<boolean> =>
      (await validateCode(ctx, { url: vs('v'), system: cs('v'), version, code })).result
    expect([await isMember('a'), await isMember('b')]).toEqual([true, false])
  })
})

describe('a value set', () => {
  it('that is retired is expanded if there is no other, and the expansion says so', async () => {
    const retired = valueSet('retired', { include: [{ system: cs('living') }] }, { version: '1', status: 'retired' })
    const { total, parameters } = await expand(contextOf(LIVING, retired), { url: vs('retired') })
    expect([total, parameters.filter(({ name }) => name === 'warning-retired').map(({ value }) => value)]).toEqual([
      6,
      [`${vs('retired')}|1`],
    ])
  })

  it('is all codes of a code system that names it', async () => {
    const named = contextOf(codeSystem('named', [{ code: 'x' }], { valueSet: vs('named') }))
    expect(shape((await expand(named, { url: vs('named') })).contains)).toBe('x')
  })

  it('without compose is its stored expansion', async () => {
    const stored = {
      resourceType: 'ValueSet',
      url: vs('stored'),
      status: 'active',
      expansion: {
        contains: [
          { system: cs('living'), code: 'cat', contains: [{ system: cs('living'), code: 'dog' }] },
          { system: cs('living'), code: 'plant' },
        ],
      },
    }
    expect(shape((await expand(contextOf(LIVING, stored), { url: vs('stored') })).contains)).toBe('cat dog plant')
  })

  it('without compose has no code for an entry that only groups others', async () => {
    const duck = { system: cs('living'), code: 'duck' }
    const stored = {
      resourceType: 'ValueSet',
      url: vs('stored'),
      status: 'active',
      expansion: { contains: [{ abstract: true, display: 'Birds', contains: [duck] }] },
    }
    expect(shape((await expand(contextOf(LIVING, stored), { url: vs('stored') })).contains)).toBe('duck')
    const withoutSystem = { ...stored, expansion: { contains: [{ code: 'duck' }] } }
    await expect(expand(contextOf(LIVING, withoutSystem), { url: vs('stored') })).rejects.toMatchObject({ code: 'definition-invalid' })
  })

  it.each(['include', 'exclude'])('refuses an %s with both codes and filters', async (kind) => {
    const part = { system: cs('living'), concept: [{ code: 'cat' }], filter: [{ property: 'concept', op: 'is-a', value: 'lion' }] }
    const valueSet = {
      resourceType: 'ValueSet',
      url: vs('both'),
      status: 'active',
      compose: { include: [{ system: cs('living') }], [kind]: [part] },
    }
    await expect(expand(contextOf(LIVING), { valueSet })).rejects.toMatchObject({
      code: 'definition-invalid',
      expression: [`ValueSet.compose.${kind}[0]`],
    })
  })

  it('without compose may group its codes 20,000 deep', async () => {
    let contains: readonly object[] = [{ system: cs('living'), code: 'duck' }]
    for (let depth = 0; depth < 20_000; depth++) contains = [{ abstract: true, display: 'Birds', contains }]
    const stored = { resourceType: 'ValueSet', url: vs('deep'), status: 'active', expansion: { contains } }
    expect(shape((await expand(contextOf(LIVING), { valueSet: stored })).contains)).toBe('duck')
  })

  describe('named by a canonical with a fragment', () => {
    const contained = [
      { resourceType: 'ValueSet', id: 'x', compose: { include: [{ valueSet: ['#y'] }] } },
      { resourceType: 'ValueSet', id: 'y', compose: { include: [{ system: cs('living'), concept: [{ code: 'cat' }] }] } },
    ]
    const holder = valueSet('holder', { include: [{ system: cs('living') }] }, { contained, version: '2.0.0' })
    const importing = (canonical: string): object => valueSet('importing', { include: [{ valueSet: [canonical] }] })
    const context = contextOf(LIVING, holder)

    it('is what the named value set contains', async () => {
      expect(shape((await expand(context, { url: `${vs('holder')}#x` })).contains)).toBe('cat')
      expect(shape((await expand(context, { url: `${vs('holder')}|2.0.0#y` })).contains)).toBe('cat')
      expect(shape((await expand(context, { valueSet: importing(`${vs('holder')}#x`) })).contains)).toBe('cat')
    })

    it('does not exist where nothing of this id is contained', async () => {
      for (const fragment of ['z', '']) {
        const canonical = `${vs('holder')}#${fragment}`
        await expect(expand(context, { url: canonical })).rejects.toMatchObject({ code: 'not-found' })
        await expect(expand(context, { valueSet: importing(canonical) })).rejects.toMatchObject({
          code: 'content-not-found',
          message: expect.stringContaining(canonical) as string,
        })
      }
    })
  })

  it('may import a value set that stands inside it', async () => {
    const contained = {
      resourceType: 'ValueSet',
      id: 'in',
      compose: { include: [{ system: cs('living'), concept: [{ code: 'cat' }, { code: 'dog' }] }] },
    }
    const outer = valueSet('outer', { include: [{ valueSet: ['#in', vs('cats')] }] }, { contained: [contained] })
    const { contains, parameters } = await expand(ctx, { valueSet: outer })
    expect(shape(contains)).toBe('cat')
    expect(parameters.filter(({ name }) => name === 'used-valueset').map(({ value }) => value)).toEqual([`${vs('cats')}|2.0.0`])
  })
})

describe('what no engine knows is refused by its place', () => {
  const modifierExtension = [{ url: 'http://example.org/changes-meaning', valueBoolean: true }]
  const include = (members: JsonObject = {}): JsonObject => ({ include: [{ system: cs('own'), ...members }] })
  const own = (members: JsonObject = {}, concept: JsonObject = {}): JsonObject => codeSystem('own', [{ code: 'x', ...concept }], members)
  const supplement = codeSystem('more', [], { content: 'supplement', supplements: cs('own'), modifierExtension })
  const filter = [{ property: 'concept', op: 'is-a', value: 'x', modifierExtension }]
  it.each([
    ['ValueSet.modifierExtension', [own(), valueSet('v', include(), { modifierExtension })]],
    ['ValueSet.implicitRules', [own(), valueSet('v', include(), { implicitRules: 'http://example.org/rules' })]],
    ['ValueSet.compose.modifierExtension', [own(), valueSet('v', { ...include(), modifierExtension })]],
    ['ValueSet.compose.include[0].modifierExtension', [own(), valueSet('v', include({ modifierExtension }))]],
    ['ValueSet.compose.include[0].filter[0].modifierExtension', [own(), valueSet('v', include({ filter }))]],
    [
      'ValueSet.compose.include[0].concept[1].modifierExtension',
      [own(), valueSet('v', include({ concept: [{ code: 'x' }, { code: 'x', modifierExtension }] }))],
    ],
    ['CodeSystem.modifierExtension', [own({ modifierExtension }), valueSet('v', include())]],
    ['CodeSystem.implicitRules', [own({ implicitRules: 'http://example.org/rules' }), valueSet('v', include())]],
    ['CodeSystem.concept.modifierExtension', [own({}, { modifierExtension }), valueSet('v', include())]],
  ])('%s', async (place, resources) => {
    const refused = { code: 'not-supported', expression: [place] }
    const asked = { url: vs('v'), coding: { system: cs('own'), code: 'x' } }
    await expect(expand(contextOf(...resources), { url: vs('v') })).rejects.toMatchObject(refused)
    await expect(validateCode(contextOf(...resources), asked)).rejects.toMatchObject(refused)
  })

  it('in a supplement that is used', async () => {
    const resources = contextOf(own(), supplement, valueSet('v', include()))
    expect((await expand(resources, { url: vs('v') })).total).toBe(1)
    const used = expand(resources, { url: vs('v'), useSupplement: [cs('more')] })
    await expect(used).rejects.toMatchObject({ code: 'not-supported', expression: ['CodeSystem.modifierExtension'] })
  })

  it('but for rules about operators of later releases', async () => {
    const implicitRules = 'https://hl7.org/fhir/implicit-rules/omitted-mandatory-interversion-code'
    expect((await expand(contextOf(own(), valueSet('v', include(), { implicitRules })), { url: vs('v') })).total).toBe(1)
  })
})

it('a code that is listed twice has the display that comes first', async () => {
  const concept = [
    { code: 'dog', display: 'First' },
    { code: 'dog', display: 'Second' },
  ]
  const { contains } = await expand(ctx, { valueSet: valueSet('twice', { include: [{ system: cs('living'), concept }] }) })
  expect(contains.map(({ code, display }) => [code, display])).toEqual([['dog', 'First']])
})
