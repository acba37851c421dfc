import { describe, expect, it, vi } from 'vitest'
import { codeSystem, cs } from '../../../test/terminology-content.js'
import type { ComputedSystem } from '../../code-system/index.js'
import { createContext, forRequest, type OperationContext } from '../../context/index.js'
import { expand } from '../../expand/index.js'
import type { JsonObject } from '../../json/index.js'
import { lookup } from '../../lookup/index.js'
import { memoryStorage } from '../../memory/index.js'
import { putResource } from '../../storage/index.js'
import { definitionEntries } from '../../content/index.js'
import { validateCodeInSystem, validateCode } from '../../validate-code/index.js'
import { LOINC, loinc, storeConcepts } from '@fhir-ops/loinc-rxnorm'
import { snomed, SNOMED } from '@fhir-ops/snomed'
import { ID, importSynthetic } from '../../../../snomed/src/synthetic.fixture.js'

const SUPPLEMENT = 'http://example.org/CodeSystem/supplement'
const COMMON = 'http://example.org/ValueSet/common'

const computed: ComputedSystem = {
  url: cs('computed'),
  name: 'Computed',
  version: '1',
  caseSensitive: true,
  common: [COMMON],
  find: (code) => (/^n[0-9]+$/.test(code) ? { code, display: `Number ${code}` } : undefined),
}

/** Every kind of code system: where it comes from, and two of its codes. */
const SYSTEMS = {
  resource: { url: cs('own'), code: 'a', other: 'b' },
  listed: { url: LOINC, code: '1-8', other: '2-6' },
  snomed: { url: SNOMED, code: ID.lobe, other: ID.limb },
  computed: { url: cs('computed'), code: 'n1', other: 'n2' },
} as const
type Kind = keyof typeof SYSTEMS

const concepts = await importSynthetic('http://snomed.info/sct/900000000000207008/version/20240101')
await storeConcepts(concepts, { resourceType: 'CodeSystem', url: LOINC, version: '2.80', status: 'active', content: 'complete' }, [
  { code: '1-8', display: 'First' },
  { code: '2-6', display: 'Second', property: [{ code: 'colour', valueString: 'green' }] },
])
const OWN = {
  ...codeSystem('own', [
    { code: 'a', display: 'First' },
    { code: 'b', display: 'Second' },
  ]),
  id: 'own',
}
const COMMON_SET = {
  resourceType: 'ValueSet',
  id: 'common',
  url: COMMON,
  status: 'active',
  compose: { include: [{ system: cs('computed'), concept: [{ code: 'n1' }, { code: 'n2' }] }] },
}
const ctx = createContext({ storage: memoryStorage([OWN, COMMON_SET]), concepts, codeSystems: [computed, snomed(), loinc()] })

/** The context with a supplement to the system that names `code` anew and gives it a property. */
function supplementing(kind: Kind, supplements?: string): OperationContext {
  return forRequest(ctx, { resources: [supplementTo(kind, supplements)] })
}

function supplementTo(kind: Kind, supplements: string = SYSTEMS[kind].url): JsonObject {
  const concept = [
    { code: SYSTEMS[kind].code, designation: [{ language: 'eo', value: 'Zorgo' }], property: [{ code: 'colour', valueString: 'green' }] },
    { code: 'no such code', designation: [{ value: 'Zorgo' }] },
  ]
  const property = [{ code: 'colour', uri: 'http://example.org/colour', type: 'string' }]
  return { resourceType: 'CodeSystem', url: SUPPLEMENT, status: 'active', content: 'supplement', supplements, property, concept }
}

const KINDS: readonly Kind[] = ['resource', 'listed', 'snomed', 'computed']
const useSupplement = [SUPPLEMENT]

async function expanded(own: OperationContext, include: JsonObject, more: object = {}): Promise<readonly string[]> {
  const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [include] } }
  const { contains } = await expand(own, { valueSet, excludeNested: true, useSupplement, ...more })
  return contains.map(({ code }) => code)
}

describe.each(KINDS)('a supplement to a system of the kind %s', (kind) => {
  const { url: system, code, other } = SYSTEMS[kind]
  const own = supplementing(kind)

  it('adds designations and properties to a lookup', async () => {
    const found = await lookup(own, { system, code, properties: ['colour'], useSupplement })
    expect(found.designations).toContainEqual(expect.objectContaining({ value: 'Zorgo', language: 'eo', supplement: SUPPLEMENT }))
    expect(found.properties).toContainEqual(expect.objectContaining({ code: 'colour', value: ['valueString', 'green'] }))
    expect(found.supplements).toEqual([SUPPLEMENT])
  })

  it('is not used unless it is named', async () => {
    const found = await lookup(own, { system, code, properties: ['colour'] })
    expect([found.designations.some(({ value }) => value === 'Zorgo'), found.supplements]).toEqual([false, []])
  })

  it('makes its texts right displays, and shows them in their language', async () => {
    expect((await validateCodeInSystem(own, { system, code, display: 'Zorgo', useSupplement })).result).toBe(true)
    expect((await validateCodeInSystem(own, { system, code, display: 'Zorgo' })).result).toBe(false)
    expect((await lookup(own, { system, code, displayLanguage: 'eo', useSupplement })).display).toBe('Zorgo')
  })

  it('is looked at by text filters and by filters over its properties', async () => {
    expect(await expanded(own, { system }, { filter: 'zor' })).toEqual([code])
    expect(await expanded(own, { system, filter: [{ property: 'colour', op: '=', value: 'green' }] })).toContain(code)
    expect(await expanded(own, { system, filter: [{ property: 'colour', op: 'exists', value: 'true' }] })).toContain(code)
    expect(await expanded(own, { system, filter: [{ property: 'colour', op: '=', value: 'red' }] })).toEqual([])
  })

  it('leaves other codes as they are', async () => {
    const found = await lookup(own, { system, code: other, useSupplement })
    expect(found.designations.some(({ value }) => value === 'Zorgo')).toBe(false)
  })

  it('is used out of storage when a value set demands it', async () => {
    const storage = memoryStorage([{ ...supplementTo(kind), id: 'supplement' }, OWN, COMMON_SET])
    const stored = createContext({ storage, concepts, codeSystems: [computed, snomed(), loinc()] })
    const extension = [{ url: 'http://hl7.org/fhir/StructureDefinition/valueset-supplement', valueCanonical: SUPPLEMENT }]
    const include = [{ system, concept: [{ code }, { code: other }] }]
    const valueSet = { resourceType: 'ValueSet', status: 'active', extension, compose: { include } }
    const { contains } = await expand(stored, { valueSet, displayLanguage: 'eo', properties: ['colour'] })
    expect(contains.map((item) => item.display)).toContain('Zorgo')
    expect(JSON.stringify(contains.find((item) => item.code === code))).toContain('"colour"')
    expect((await validateCode(stored, { valueSet, system, code, display: 'Zorgo' })).result).toBe(true)
  })

  it('is refused for another version, for which it would add nothing', async () => {
    const other = supplementing(kind, `${system}|other`)
    const missing = { message: expect.stringContaining(`${SUPPLEMENT} (it supplements ${system}|other, which is not used here)`) }
    const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system, concept: [{ code }] }] } }
    await expect(lookup(other, { system, code, useSupplement })).rejects.toMatchObject(missing)
    await expect(expand(other, { valueSet, useSupplement })).rejects.toMatchObject(missing)
    await expect(validateCode(other, { valueSet, system, code, useSupplement })).rejects.toMatchObject(missing)
    await expect(validateCodeInSystem(other, { system, code, useSupplement })).rejects.toMatchObject(missing)
  })
})

describe('a supplement with several versions', () => {
  const [system, supplement] = [cs('living'), 'http://example.org/CodeSystem/versions']
  const living = (version: string): JsonObject => codeSystem('living', [{ code: 'cat' }], { version })
  const version = (own: string, supplements: string, more: object = {}): JsonObject => {
    const concept = [{ code: 'cat', designation: [{ value: own }] }]
    return {
      resourceType: 'CodeSystem',
      url: supplement,
      version: own,
      status: 'active',
      content: 'supplement',
      supplements,
      concept,
      ...more,
    }
  }
  const resources = [
    ...['1', '2'].map(living),
    version('1.0.0', `${system}|1`),
    version('1.1.0', `${system}|1`),
    version('2.0.0', `${system}|2`),
    version('2.1.0', system),
    version('3.0.0', system, { status: 'retired' }),
  ]

  it.each([
    ['the newest that is not retired', supplement, '2', ['2.1.0']],
    ['the newest for an older code system', supplement, '1', ['2.1.0']],
    ['the one that is named', `${supplement}|1.0.0`, '1', ['1.0.0']],
    ['the newest of those that are named', `${supplement}|1.x.x`, '1', ['1.1.0']],
    ['a retired one that is named', `${supplement}|3.0.0`, '2', ['3.0.0']],
  ])('adds what one says: %s', async (_, canonical, systemVersion, expected) => {
    const own = forRequest(ctx, { resources })
    const found = await lookup(own, { system, code: 'cat', version: systemVersion, useSupplement: [canonical] })
    expect(found.designations.map(({ value }) => value)).toEqual(expected)
    expect(found.supplements).toEqual(expected.map((one) => `${supplement}|${one}`))
  })

  it('for another version of the code system is refused, unless a coding is of that version', async () => {
    const own = forRequest(ctx, { resources })
    const useSupplement = [`${supplement}|1.0.0`]
    const text = `${supplement}|1.0.0 (it supplements ${system}|1, which is not used here)`
    const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system }] } }
    await expect(lookup(own, { system, code: 'cat', useSupplement })).rejects.toThrow(text)
    await expect(expand(own, { valueSet, useSupplement })).rejects.toThrow(text)
    await expect(validateCode(own, { valueSet, coding: { system, code: 'cat' }, useSupplement })).rejects.toThrow(text)
    const coding = { system, version: '1', code: 'cat', display: '1.0.0' }
    expect((await validateCode(own, { valueSet, coding, useSupplement })).result).toBe(true)
    expect((await validateCodeInSystem(own, { coding, useSupplement })).result).toBe(true)
    const force = { force: new Map([[system, '1']]) }
    expect((await expand(own, { valueSet, useSupplement, rules: force, includeDesignations: true })).contains).toHaveLength(1)
  })

  it('without a canonical version is chosen for each version of the code system', async () => {
    const own = forRequest(ctx, { resources: resources.slice(0, 5) })
    const found = await lookup(own, { system, code: 'cat', version: '1', useSupplement: [supplement] })
    expect(found.supplements).toEqual([`${supplement}|1.1.0`])
  })
})

it('a filter over a property of both takes what either says', async () => {
  expect(await expanded(supplementing('listed'), { system: LOINC, filter: [{ property: 'colour', op: '=', value: 'green' }] })).toEqual([
    '1-8',
    '2-6',
  ])
})

it("a filter of a system's own looks at the supplement", async () => {
  const concept = [{ code: '2-6', property: [{ code: 'COMPONENT', valueString: 'Glucose' }] }]
  const supplement = { resourceType: 'CodeSystem', url: SUPPLEMENT, status: 'active', content: 'supplement', supplements: LOINC, concept }
  const own = forRequest(ctx, { resources: [supplement] })
  expect(await expanded(own, { system: LOINC, filter: [{ property: 'COMPONENT', op: '=', value: 'glucose' }] })).toEqual(['2-6'])
})

it('a supplement with very many concepts is looked through once, and lets other work run in between', async () => {
  const concept = Array.from({ length: 40_000 }, (_, n) => ({ code: `c${n}` }))
  const system = { ...codeSystem('many', concept), id: 'many' }
  const supplement = {
    resourceType: 'CodeSystem',
    id: 's',
    url: SUPPLEMENT,
    status: 'active',
    content: 'supplement',
    supplements: cs('many'),
    concept: concept.map(({ code }) => ({ code, designation: [{ value: `Also ${code}` }] })),
  }
  const storage = memoryStorage([system, supplement])
  const stored = createContext({ storage })
  await lookup(stored, { system: cs('many'), code: 'c1' }) // The code system is known from here on.
  const asked = async (): Promise<readonly [display: string | undefined, turns: number]> => {
    const turn = vi.fn(async () => {})
    const busy = { ...stored, scheduler: { mayGoOn: () => false, turn } }
    const { designations } = await lookup(busy, { system: cs('many'), code: 'c1', useSupplement: [SUPPLEMENT] })
    return [designations[0]?.value, turn.mock.calls.length]
  }
  const [first, firstTurns] = await asked()
  const [again, turns] = await asked()
  expect([first, again]).toEqual(['Also c1', 'Also c1'])
  expect(firstTurns - turns).toBeGreaterThan(4)
  await storage.write([
    putResource(
      { type: 'CodeSystem', id: 's', source: { ...supplement, concept: [{ code: 'c1', designation: [{ value: 'New' }] }] } },
      definitionEntries,
    ),
  ])
  expect(await asked()).toContain('New')
})

it('a supplement may have more children of one concept than a function takes', async () => {
  const children = Array.from({ length: 130_000 }, (_, index) => ({ code: `c${index}` }))
  const concept = [{ code: 'root', concept: [...children, { code: 'a', designation: [{ value: 'Also' }] }] }]
  const supplement = {
    resourceType: 'CodeSystem',
    url: SUPPLEMENT,
    status: 'active',
    content: 'supplement',
    supplements: cs('own'),
    concept,
  }
  const patient = { ...ctx, limits: { ...ctx.limits, operationTimeoutMs: 300_000 } }
  const { designations } = await lookup(forRequest(patient, { resources: [supplement] }), { system: cs('own'), code: 'a', useSupplement })
  expect(designations).toMatchObject([{ value: 'Also' }])
})
