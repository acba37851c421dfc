import { beforeAll, describe, expect, test } from 'vitest'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { expand } from 'fhir-ops/expand'
import { lookup } from 'fhir-ops/lookup'
import { memoryStorage } from 'fhir-ops/memory'
import { subsumes } from 'fhir-ops/subsumes'
import { translate } from 'fhir-ops/translate'
import { validateCode } from 'fhir-ops/validate-code'
import { isSctid, SCT, SNOMED } from './sctid.js'
import { conceptId, ID, importSynthetic } from './synthetic.fixture.js'
import { snomed } from './snomed.js'

const VERSION = `http://snomed.info/sct/${SCT.core}/version/20240101`
const NAMES = new Map(Object.entries(ID).map(([name, id]) => [id, name]))
let ctx: OperationContext

beforeAll(async () => {
  ctx = createContext({ storage: memoryStorage(), concepts: await importSynthetic(VERSION), codeSystems: [snomed()] })
})

/** Names of the codes in an expansion of an implicit value set, sorted. */
async function members(url: string, filter?: string): Promise<readonly string[]> {
  const { contains } = await expand(ctx, { url: `${SNOMED}?fhir_vs${url}`, filter })
  return contains.map(({ code }) => NAMES.get(code) ?? code).toSorted()
}

/** Writes `@name` as the id of the concept. */
function ids(text: string): string {
  return text.replaceAll(/@([a-zA-Z]+)/g, (_, name: string) => new Map<string, string>(Object.entries(ID)).get(name) ?? name)
}

async function selected(ecl: string): Promise<string> {
  return (await members(`=ecl/${encodeURIComponent(ids(ecl))}`)).join(' ')
}

describe('ECL', () => {
  test.each([
    ['@organ', 'organ'],
    ['< @body', 'limb lobe organ'],
    ['<< @organ', 'lobe organ'],
    ['<! @body', 'limb organ'],
    ['<<! @body', 'body limb organ'],
    ['> @lobe MINUS 138875005', 'body organ'],
    ['>> @lobe MINUS 138875005', 'body lobe organ'],
    ['>! @both', 'swelling twin'],
    ['>>! @both', 'both swelling twin'],
    ['!!> (@swelling OR @both OR @lobe)', 'lobe swelling'],
    ['!!< (@swelling OR @both OR @lobe)', 'both lobe'],
    ['@old', 'old'],
    ['* AND @old', ''],
    ['<< @body AND (>> @lobe OR @limb)', 'body limb lobe organ'],
    ['^ @picks', 'swelling'],
    ['< ^ @picks', 'both'],
    ['^ (@picks OR @map)', 'both swelling twin'],
    ['^ @organ', ''],
    ['^ [targetComponentId] 900000000000526001', 'swelling'],
    ['^ [referencedComponentId, targetComponentId] 900000000000526001', 'old swelling'],
    ['^ [*] 900000000000526001', 'old swelling'],
    ['^ [refsetId, mapTarget] @map {{ M mapTarget = "X10.2" }}', 'map'],
    ['catalogue#O-1', 'organ'],
    ['<< "CATALOGUE#O-1" |Organ| OR LOINC#100-8', 'body lobe organ'],
    ['< @disorder: @site = catalogue#O-1', 'both organDisorder swelling twin'],
    ['^ [moduleId] @map', '900000000000207008'],
    ['^ (@map OR @picks) {{ M refsetId = @map }}', 'both twin'],
    ['^ @map {{ M mapTarget = "X10.2" }}', 'both'],
    ['^ @map {{ M mapPriority > #1 }}', 'twin'],
    ['^ @picks {{ M active = 0 }}', 'twin'],
    ['^ @picks {{ M active = * }}', 'swelling twin'],
    ['^ @picks {{ M id = "m2", active = 0 }}', 'twin'],
    ['^ @map {{ M id = ("m4" "m9") }}', 'both'],
    ['memberOf [mapTarget, refsetId] @map {{ M ID not = "m4" }}', 'map'],
    ['< @disorder: @site = @organ', 'both organDisorder swelling twin'],
    ['< @disorder: @site = << @organ', 'both organDisorder swelling twin'],
    ['< @disorder: @site = @lobe', 'both'],
    ['< @disorder: @site != << @organ', 'twin'],
    ['< @disorder: [2..*] @site = *', 'both twin'],
    ['< @disorder: [1..1] @site = *', 'organDisorder swelling'],
    ['< @disorder: [0..0] @form = *', 'organDisorder twin'],
    ['< @disorder: @site = @organ, @form = @lump', 'both swelling'],
    ['< @disorder: { @site = @organ, @form = @lump }', 'swelling'],
    ['< @disorder: @site = @limb OR @site = @lobe, { @form = @lump }', 'both'],
    ['< @disorder: { @site = @limb } OR @form = @lump, @dose = #2.5', 'both twin'],
    ['< @disorder: [2..2] { @site = * }', 'both twin'],
    ['< @disorder: [0..0] { @site = @limb }', 'both organDisorder swelling'],
    ['< @disorder: @site = @limb OR @site = @lobe', 'both twin'],
    ['* : R @site = @twin', 'limb organ'],
    ['* : R @site != @twin', 'lobe organ'],
    ['* : [0..0] R @site = *, R @form = *', 'lump'],
    ['* : [4..4] R @site = *', 'organ'],
    ['(< @disorder) . @site', 'limb lobe organ'],
    ['@both . @site . @form', ''],
    ['* : @dose > #2', 'both'],
    ['* : @dose = #2.50', 'both'],
    ['* : @dose < #2', ''],
    ['* : @brand = "forte"', 'both'],
    ['* : @brand = (wild:"acme*" "nothing")', 'both'],
    ['* : * = @lump', 'both swelling'],
    ['* {{ term = "organ swol" }}', 'swelling'],
    ['* {{ term = "oedeme" }}', ''],
    ['* {{ term = wild:"*of organ" }}', 'swelling'],
    ['* {{ term = "swelled" }}', ''],
    ['* {{ term = "swelled", active = 0 }}', 'swelling'],
    ['* {{ term = "larger", type = def }}', 'swelling'],
    ['<< @organ {{ term = "organ", type = syn }}', 'organ'],
    ['<< @body {{ term = "inner", dialect = en-gb (prefer) }}', 'organ'],
    ['<< @body {{ term = "inner", dialect = en-us (prefer) }}', ''],
    ['<< @body {{ term = "inner", dialectId = 900000000000508004 (prefer) }}', 'organ'],
    ['<< @body {{ term = "inner", dialectId = (900000000000509007 900000000000508004 (prefer)) }}', 'organ'],
    ['<< @body {{ term = "inner", dialectId = (900000000000509007 OR 900000000000508004) (900000000000548007) }}', 'organ'],
    ['<< @body {{ term = "inner", dialectId != << 900000000000508004 (prefer) }}', ''],
    ['^ @map {{ M referencedComponentId = @both }}', 'both'],
    ['* {{ C definitionStatus = defined }}', 'organDisorder'],
    ['* {{ C active = 0 }}', 'old'],
    ['(@old OR @lobe) {{ C active = * }}', 'lobe old'],
    ['any {{ term = "swelled", active = any }}', 'swelling'],
    ['childOf @body MINUS ancestorOf @lobe', 'limb'],
    ['* {{ C effectiveTime < "20210101", active = false }}', 'old'],
    ['@swelling {{ + HISTORY }}', 'old swelling'],
    ['@swelling {{ + HISTORY-MIN }}', 'swelling'],
    ['@swelling {{ + HISTORY (900000000000526001) }}', 'old swelling'],
  ])('%s', async (ecl, expected) => expect(await selected(ecl)).toBe(expected))

  test.each([
    ['<< abc', 'character 4'],
    [`@organ AND ${conceptId(99)}`, 'does not exist'],
    ['^ [mapTarget, b] @map', 'no field b'],
    ['^ @map {{ M nothing = "x" }}', 'no field nothing'],
    ['* {{ dialect = xx-yy }}', 'xx-yy is not known'],
    ['SCHEME#12', 'scheme SCHEME is not known'],
    ['catalogue#O-2', 'No concept has the identifier catalogue#O-2'],
  ])('%s is refused with a reason', async (ecl, reason) => {
    await expect(selected(ecl)).rejects.toMatchObject({
      code: 'definition-invalid',
      message: expect.stringContaining(reason),
      detail: { messageId: 'INVALID_ECL' },
    })
  })
})

test('ids of members are asked for in an import that has none: it is to be imported again', async () => {
  const concepts = await importSynthetic(VERSION)
  const systems = async () =>
    (await concepts.systems()).map((system) => ({ ...system, header: JSON.stringify({ ...JSON.parse(system.header), memberIds: false }) }))
  const old = createContext({ storage: memoryStorage(), concepts: { ...concepts, systems }, codeSystems: [snomed()] })
  const url = `${SNOMED}?fhir_vs=ecl/${encodeURIComponent(ids('^ @map {{ M id = "m4" }}'))}`
  await expect(expand(old, { url })).rejects.toMatchObject({ message: expect.stringContaining('import it again') })
})

describe('implicit value sets', () => {
  test.each([
    ['=isa/@organ', 'lobe organ'],
    ['=refset/@picks', 'swelling'],
    ['=refset', '900000000000526001 map picks'],
  ])('?fhir_vs%s', async (url, expected) => expect((await members(ids(url))).join(' ')).toBe(expected))

  test('of all concepts holds the inactive ones too, and is open for expressions', async () => {
    const { total, unclosed } = await expand(ctx, { url: `${SNOMED}?fhir_vs`, count: 0 })
    expect([total, unclosed.length]).toEqual([28, 1])
  })

  test.each([
    ['', 'SNOMED CT Reference Set (All of SNOMED CT)'],
    ['=isa/@organ', 'SNOMED CT Concept @organ and descendants'],
    ['=refset', 'SNOMED CT Reference Sets'],
    ['=refset/@picks', 'SNOMED CT Reference Set @picks'],
    ['=ecl/@organ', 'SNOMED CT Concepts matching @organ'],
  ])('?fhir_vs%s is titled %s', async (url, title) => {
    const { valueSet } = await expand(ctx, { url: `${SNOMED}?fhir_vs${ids(url)}` })
    expect(valueSet.resource['title']).toBe(ids(title))
  })

  test.each([
    ['concept is-a', { property: 'concept', op: 'is-a', value: ID.organ }, 1],
    ['an attribute', { property: ID.site, op: '=', value: ID.organ }, 1],
    ['a reference set', { property: 'concept', op: 'in', value: ID.picks }, 0],
    ['inactive = true', { property: 'inactive', op: '=', value: 'true' }, 0],
    ['expressions = false', { property: 'expressions', op: '=', value: 'false' }, 0],
  ])('a filter by %s is open for expressions, unless they are excluded', async (_, filter, reasons) => {
    const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: SNOMED, filter: [filter] }] } }
    expect((await expand(ctx, { valueSet })).unclosed).toHaveLength(reasons)
    expect((await expand(ctx, { valueSet, excludePostCoordinated: true })).unclosed).toEqual([])
  })

  test.each([['=isa/123456789'], ['=refset/@organ'], ['=other/@organ'], ['x']])('?fhir_vs%s is unknown', async (url) => {
    await expect(members(ids(url))).rejects.toMatchObject({ code: 'not-found' })
  })

  test('are filtered by words of names in use, and by the start of a code', async () => {
    expect(await members('', 'swol org')).toEqual(['swelling'])
    expect(await members('', 'swelled')).toEqual([])
    expect(await members('', ID.lump)).toEqual(['lump'])
  })
})

test.each([
  ['moduleId', SCT.core, 28],
  ['moduleId', ID.organ, 0],
  ['sufficientlyDefined', 'true', 1],
  ['inactive', 'true', 1],
  ['effectiveTime', '2024-01-01', 27],
  ['effectiveTime', '2023-01-01', 0],
  ['designation', 'Swollen organ', 1],
  ['designation', 'Swelled organ', 0],
])('concepts are filtered by %s = %s', async (property, value, total) => {
  const include = [{ system: SNOMED, filter: [{ property, op: '=', value }] }]
  expect((await expand(ctx, { valueSet: { resourceType: 'ValueSet', status: 'active', compose: { include } } })).total).toBe(total)
})

test('the implicit map of an association translates inactive concepts', async () => {
  const url = `${SNOMED}?fhir_cm=900000000000526001`
  const { result, matches } = await translate(ctx, { url, coding: { system: SNOMED, code: ID.old } })
  expect([result, matches.map(({ concept }) => concept)]).toEqual([true, [{ system: SNOMED, code: ID.swelling, display: 'Swollen organ' }]])
  const back = await translate(ctx, { url, coding: { system: SNOMED, code: ID.swelling }, reverse: true })
  expect(back.matches.map(({ concept }) => concept)).toEqual([{ system: SNOMED, code: ID.old, display: 'Old swelling' }])
})

test('lookup tells attributes, relatives, module and time with displays', async () => {
  const found = await lookup(ctx, { system: SNOMED, code: ID.swelling })
  const names = found.designations.map(({ value }) => value)
  expect(names).toEqual(['Swollen organ', 'Swollen organ', 'Swelling of organ (disorder)', 'Œdème of organ'])
  const shown = found.properties.map(
    ({ code, value, description }) => `${NAMES.get(code) ?? code}=${String(value[1])}${description === undefined ? '' : ` ${description}`}`,
  )
  expect(found.display).toBe('Swollen organ')
  expect(found.definition).toBe('An organ that is larger than it should be')
  expect(shown).toEqual([
    'inactive=false',
    `parent=${ID.organDisorder} Organ disorder`,
    `child=${ID.both} Both disorders`,
    'effectiveTime=2024-01-01',
    `module=${SCT.core} Core`,
    `site=${ID.organ} Organ`,
    `form=${ID.lump} Lump`,
  ])
})

test('lookup tells the properties of R4 by their names', async () => {
  const properties = ['moduleId', 'sufficientlyDefined']
  const found = await lookup(ctx, { system: SNOMED, code: ID.organDisorder, properties })
  expect(found.properties.map(({ code, value }) => [code, value[1]])).toEqual([
    ['inactive', false],
    ['moduleId', SCT.core],
    ['sufficientlyDefined', true],
  ])
})

describe('normal forms', () => {
  const formsOf = async (code: string): Promise<Readonly<Record<string, unknown>>> => {
    const { properties } = await lookup(ctx, { system: SNOMED, code: ids(code), properties: ['normalForm', 'normalFormTerse'] })
    return Object.fromEntries(properties.map(({ code: name, value }) => [name, value[1]]))
  }

  test.each([
    ['@organDisorder', '===@disorder:{@site=@organ}'],
    ['@lobe', '<<<@lobe'],
    ['@swelling', '<<<@swelling:{@site=@organ,@form=@lump}'],
    ['@both', '<<<@both:@dose=#2.5,@brand="Acme Forte",{@site=@lobe},{@site=@organ},{@form=@lump}'],
    ['@organDisorder:@site=@organ', '===@organDisorder:@site=@organ'],
    ['@organDisorder:{@site=@lobe,@dose=#7.5}', '===@organDisorder:{@site=@lobe,@dose=#7.5}'],
    ['@organDisorder:{@dose=#7.5}', '===@organDisorder:{@dose=#7.5},{@site=@organ}'],
    ['@swelling+@twin', '===@swelling+@twin:{@site=@organ,@form=@lump},{@site=@limb}'],
    ['@twin+@twin', '===@twin:{@site=@organ},{@site=@limb}'],
  ])('%s without terms: %s', async (code, expected) => {
    expect((await formsOf(code))['normalFormTerse']).toBe(ids(expected))
  })

  test('with terms name each concept by its display', async () => {
    expect((await formsOf('@organDisorder'))['normalForm']).toBe(ids('=== @disorder|Disorder|:{@site|Site|=@organ|Organ|}'))
    expect((await formsOf('@both'))['normalForm']).toMatch(/^<<< [0-9]+\|Both disorders\|:[0-9]+\|Dose\|=#2\.5,/)
  })

  test('are given only if they are asked for by name, and not for inactive concepts, which nothing defines', async () => {
    const { properties } = await lookup(ctx, { system: SNOMED, code: ID.both, properties: ['*'] })
    expect(properties.map(({ code }) => code)).not.toContain('normalForm')
    expect(await formsOf('@old')).toEqual({ inactive: true })
  })

  test('are refused over a release without relationships', async () => {
    const bare = createContext({
      storage: memoryStorage(),
      concepts: await importSynthetic(VERSION, { without: 'relationship' }),
      codeSystems: [snomed()],
    })
    await expect(lookup(bare, { system: SNOMED, code: ID.organ, properties: ['normalForm'] })).rejects.toMatchObject({
      code: 'not-supported',
      message: expect.stringContaining('normalForm'),
    })
  })
})

test.each([
  ['en', 'Organ'],
  ['en-GB', 'Inner part'],
  ['sv', 'Organ'],
  ['en-US', 'Organ'],
])('the display in %s is what its language reference set prefers', async (language, expected) => {
  expect((await lookup(ctx, { system: SNOMED, code: ID.organ, displayLanguage: language })).display).toBe(expected)
})

test.each([
  ['constraint', '=', '^ [referencedComponentId] 900000000000526001', []],
  ['inactive', '=', 'true', []],
  ['concept', 'in', '900000000000526001', []],
  ['concept', '=', '@old', ['INACTIVE_CONCEPT_FOUND']],
] as const)('an inactive concept that is selected by %s %s %s: %j', async (property, op, value, findings) => {
  const include = { system: SNOMED, filter: [{ property, op, value: ids(value) }] }
  const { result, issues } = await validateCode(ctx, {
    valueSet: { resourceType: 'ValueSet', status: 'active', compose: { include: [include] } },
    coding: { system: SNOMED, code: ID.old },
  })
  expect([result, issues.map(({ messageId }) => messageId)]).toEqual([true, findings])
})

describe('expressions', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    [`@swelling`, `@disorder`, 'subsumed-by'],
    [`@disorder:@site=@organ`, `@organDisorder`, 'equivalent'],
    [`@disorder:@site=@limb`, `@organDisorder`, 'not-subsumed'],
    [`@disorder:{@site=@lobe,@form=@lump}`, `@disorder:{@site=@organ,@form=@shape}`, 'subsumed-by'],
    [`@disorder:{@site=@lobe},{@form=@lump}`, `@disorder:{@site=@organ,@form=@shape}`, 'not-subsumed'],
    [`@swelling`, `@disorder:@form=@lump`, 'subsumed-by'],
    [`@swelling+@twin`, `@twin`, 'subsumed-by'],
    [`@disorder:@dose=#7`, `@disorder:@dose=#8`, 'not-subsumed'],
    [`@disorder:@dose=#2.50`, `@disorder:@dose=#2.5`, 'equivalent'],
    [`@disorder:@dose=#9007199254740993`, `@disorder:@dose=#9007199254740992`, 'not-subsumed'],
    [`@disorder:@dose=#-0.0`, `@disorder:@dose=#0`, 'equivalent'],
    [`@disorder:@dose=#+7`, `@disorder:@dose=#-7`, 'not-subsumed'],
    [`@disorder:@brand="7"`, `@disorder:@brand="7.0"`, 'not-subsumed'],
  ]
  test.each(cases)('%s and %s: %s', async (a, b, expected) => {
    const { outcome } = await subsumes(ctx, { system: SNOMED, codeA: ids(a), codeB: ids(b) })
    expect(outcome).toBe(expected)
  })

  test('have the concrete values that they state, also those that no concept has', async () => {
    const code = ids('@disorder:@dose=#7.5,@brand="Other"')
    const { properties } = await lookup(ctx, { system: SNOMED, code })
    expect(properties.filter(({ code: name }) => name === ID.dose || name === ID.brand).map(({ value }) => value)).toEqual([
      ['valueDecimal', 7.5],
      ['valueString', 'Other'],
    ])
  })

  test.each([
    ['constraint', '< @disorder: @dose >= #5', true],
    ['constraint', '< @disorder: @dose < #5', false],
    ['constraint', '< @disorder: @brand = "other"', true],
    ['@dose', '7.50', true],
    ['@dose', '8', false],
  ])('are compared by the concrete values that no concept has: %s = %s: %s', async (property, value, expected) => {
    const filter = [
      { property: ids(property), op: '=', value: ids(value) },
      { property: 'expressions', op: '=', value: 'true' },
    ]
    const { result } = await validateCode(ctx, {
      valueSet: { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: SNOMED, filter }] } },
      coding: { system: SNOMED, code: ids('@swelling:@dose=#7.5,@brand="Other"') },
    })
    expect(result).toBe(expected)
  })

  test('are shown with terms, grouped as they were', async () => {
    const { display } = await lookup(ctx, { system: SNOMED, code: ids('@disorder | x | : { @site = @lobe , @dose = #3 }') })
    expect(display).toBe(ids('@disorder|Disorder|:{@site|Site|=@lobe|Lobe|,@dose|Dose|=#3}'))
  })

  test.each([
    '<<< @disorder:@site=@lobe',
    '@disorder:@site=(@organ:@form=@lump)',
    '@disorder:@organ=@site',
    '@disorder:',
    '@disorder:@site=123456',
    ' @disorder',
    '@disorder:@site=@lobe ',
  ])('%s is not a code', async (code) => {
    await expect(lookup(ctx, { system: SNOMED, code: ids(code) })).rejects.toBeInstanceOf(OperationError)
  })
})

test.each([
  ['138875005', true],
  ['138875006', false],
  ['1388', false],
  ['0138875005', false],
])('%s is an identifier: %s', (id, expected) => expect(isSctid(id)).toBe(expected))

describe('the order of matches', () => {
  const FILTERS = [
    'o',
    'or',
    'organ',
    'o of',
    'of o',
    'body',
    'organ b',
    'swell',
    'disorder o',
    'œd',
    'm a',
    'a',
    '1',
    ID.organ,
    'disorders',
    'lob or',
  ]

  test.each(FILTERS)('that is kept with a version is that of all compared, for %j', async (filter) => {
    const concepts = await importSynthetic(VERSION)
    const withoutOrder = async () =>
      (await concepts.systems()).map((system) => ({ ...system, header: JSON.stringify({ ...JSON.parse(system.header), displays: false }) }))
    const plain = createContext({ storage: memoryStorage(), concepts: { ...concepts, systems: withoutOrder }, codeSystems: [snomed()] })
    const kept = createContext({ storage: memoryStorage(), concepts, codeSystems: [snomed()] })
    for (const page of [{}, { count: 3 }, { count: 2, offset: 1 }, { displayLanguage: 'en', count: 3 }]) {
      const input = { url: `${SNOMED}?fhir_vs`, filter, ...page }
      const [a, b] = [await expand(kept, input), await expand(plain, input)]
      expect([a.total, a.contains]).toEqual([b.total, b.contains])
    }
  })
})

test('a typing error is tolerated when that is asked for', async () => {
  const input = { url: `${SNOMED}?fhir_vs`, filter: 'orgin', tolerateTypo: true }
  const { contains } = await expand(ctx, input)
  expect(contains.map(({ display }) => display)).toEqual(['Organ', 'Organ disorder', 'Swollen organ', 'Lobe'])
  expect((await expand(ctx, { ...input, offset: 1, count: 2 })).contains).toEqual(contains.slice(1, 3))
})

describe('what was looked up', () => {
  test('is kept between requests for concepts, and not over one that brings an expression', async () => {
    const concepts = await importSynthetic(VERSION)
    let listed = 0
    const counted = {
      ...concepts,
      systems: () => {
        listed++
        return concepts.systems()
      },
    }
    const own = createContext({ storage: memoryStorage(), concepts: counted, codeSystems: [snomed()] })
    const asked = async (code: string): Promise<number> => {
      await lookup(own, { system: SNOMED, code })
      return listed
    }
    const first = await asked(ID.organ)
    expect([await asked(ID.limb), await asked(`${ID.organ}:${ID.site}=${ID.limb}`)]).toEqual([first, first])
    expect(await asked(ID.limb)).toBeGreaterThan(first)
  })
})
