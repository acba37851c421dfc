import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { evaluateMeasure } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { describe, expect, it } from 'vitest'
import { cqlLanguage, evaluateCql, type RetrievedProfiles } from '../src/index.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()
const PROFILE = 'http://x/StructureDefinition/'

/** A library in ELM whose retrieves of a type are by a profile, as the translator writes them for models with profiles. */
async function elmOf(text: string, templates: Readonly<Record<string, string>>): Promise<unknown> {
  const { elm } = await translator.translate(
    `library Main version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\ncontext Patient\n${text}`,
  )
  return JSON.parse(JSON.stringify(elm), (name, value) => {
    const type = name === 'templateId' ? String(value).split('/').at(-1) : undefined
    return type !== undefined && type in templates ? templates[type] : value
  })
}

const libraryOf = (elm: unknown): { readonly resourceType: string; readonly [member: string]: unknown } => ({
  resourceType: 'Library',
  id: 'main',
  url: 'http://x/Library/Main',
  name: 'Main',
  version: '1',
  status: 'active',
  content: [{ contentType: 'application/elm+json', data: btoa(JSON.stringify(elm)) }],
})

type Elements = Readonly<Record<string, object>>

function profileOf(name: string, form: 'differential' | 'snapshot', elements: Elements, more: object = {}): object {
  const element = Object.entries(elements).map(([id, one]) => ({ id, path: id.replaceAll(/:\w+/g, ''), ...one }))
  return {
    resourceType: 'StructureDefinition',
    id: name.toLowerCase(),
    url: PROFILE + name,
    name,
    status: 'active',
    kind: 'resource',
    abstract: false,
    type: Object.keys(elements)[0]?.split('.')[0],
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Observation',
    derivation: 'constraint',
    [form]: { element },
    ...more,
  }
}

const of = (code: string, system = 'http://x/s'): object => ({ coding: [{ system, code, display: 'shown' }] })
const subject = { reference: 'Patient/p' }
const observation = (id: string, more: object): object => ({ resourceType: 'Observation', id, status: 'final', subject, ...more })
const PATIENT = { resourceType: 'Patient', id: 'p' }
const RECORDS = [
  observation('a', { code: of('1'), category: [of('lab'), of('vital')], extension: [{ url: 'http://x/e', valueBoolean: true }] }),
  observation('b', { code: of('1', 'http://x/other'), category: [of('lab')], meta: { profile: [`${PROFILE}Coded|2`] } }),
  observation('c', { code: { text: '1' } }),
  observation('d', { code: of('1'), status: 'cancelled', language: 'en' }),
]

const contextWith = (...more: readonly object[]): OperationContext =>
  createContext({ ...release, types, storage: memoryStorage([PATIENT, ...RECORDS, ...more], { indexer: release.indexer }) })

interface Asked {
  readonly profile?: string
  readonly definitions?: readonly object[]
  readonly profiles?: RetrievedProfiles
  readonly codes?: string
}

/** The observations that a retrieve by a profile finds. */
async function found({ profile = `${PROFILE}Coded`, definitions = [], profiles }: Asked): Promise<unknown> {
  const elm = await elmOf('define X: [Observation] O return all O.id.value', { Observation: profile })
  const input = { library: libraryOf(elm), subject: 'Patient/p' }
  const { values } = await evaluateCql(contextWith(...definitions), input, profiles === undefined ? {} : { profiles })
  return values.get('X')
}

const PATTERN = { patternCodeableConcept: { coding: [{ system: 'http://x/s', code: '1' }] } }

describe.each(['snapshot', 'differential'] as const)('a retrieve by a profile that is known by its %s finds', (form) => {
  it.each<[string, Elements, readonly string[]]>([
    ['what has a pattern', { 'Observation.code': { min: 1, ...PATTERN } }, ['a', 'd']],
    [
      'what has fixed parts',
      { 'Observation.code.coding': { min: 1 }, 'Observation.code.coding.system': { min: 1, fixedUri: 'http://x/s' } },
      ['a', 'd'],
    ],
    ['what has a fixed code', { 'Observation.status': { min: 1, fixedCode: 'cancelled' } }, ['d']],
    ['what lacks an element that may be absent', { 'Observation.language': { min: 0, fixedCode: 'de' } }, ['a', 'b', 'c']],
    ['an item of a slice', { 'Observation.category:vital': { min: 1, patternCodeableConcept: { coding: [{ code: 'vital' }] } } }, ['a']],
    [
      'an item of a slice with all of its parts',
      {
        'Observation.category:vital': { min: 1 },
        'Observation.category:vital.coding': { min: 1 },
        'Observation.category:vital.coding.code': { min: 1, fixedCode: 'lab' },
        'Observation.category:vital.coding.system': { min: 1, fixedUri: 'http://x/s' },
      },
      ['a', 'b'],
    ],
    [
      'all for a slice that may be absent',
      { 'Observation.category:vital': { min: 0, patternCodeableConcept: of('z') } },
      ['a', 'b', 'c', 'd'],
    ],
    ['all for a part of what may be absent', { 'Observation.code.coding.code': { min: 1, fixedCode: 'z' } }, ['a', 'b', 'c', 'd']],
    [
      'each item where there are no slices',
      { 'Observation.category': { min: 0, patternCodeableConcept: { coding: [{ code: 'lab' }] } } },
      ['b', 'c', 'd'],
    ],
    ['what has an extension', { 'Observation.extension:e': { min: 1, type: [{ code: 'Extension', profile: ['http://x/e|3'] }] } }, ['a']],
    ['all where nothing is fixed', { 'Observation.code': { min: 1, mustSupport: true } }, ['a', 'b', 'c', 'd']],
  ])('%s', async (_, elements, expected) => {
    expect(await found({ definitions: [profileOf('Coded', form, elements)] })).toEqual(expected)
  })
})

describe('a retrieve by a profile', () => {
  const coded = profileOf('Coded', 'differential', { 'Observation.code': { min: 1, ...PATTERN } })

  it('finds what has what the bases of the profile fix, too', async () => {
    const cancelled = profileOf(
      'Cancelled',
      'differential',
      { 'Observation.status': { min: 1, fixedCode: 'cancelled' } },
      { baseDefinition: `${PROFILE}Coded` },
    )
    expect(await found({ profile: `${PROFILE}Cancelled`, definitions: [coded, cancelled] })).toEqual(['d'])
  })

  it('ends where profiles are based on each other', async () => {
    const circle = profileOf('Coded', 'differential', { 'Observation.code': { min: 1, ...PATTERN } }, { baseDefinition: `${PROFILE}Coded` })
    expect(await found({ definitions: [circle] })).toEqual(['a', 'd'])
  })

  it('is refused where the profile fixes more than can be compared with each resource', async () => {
    const coding = Array.from({ length: 1_000 }, (_, n) => ({ code: `c${n}` }))
    const large = profileOf('Coded', 'snapshot', { 'Observation.code': { min: 1, patternCodeableConcept: { coding } } })
    await expect(found({ definitions: [large] })).rejects.toMatchObject({
      code: 'too-costly',
      message: expect.stringContaining(`${PROFILE}Coded`),
    })
  })

  it('reads nothing of prototypes', async () => {
    const odd = profileOf('Coded', 'snapshot', {
      'Observation.__proto__': { min: 1, fixedCode: 'x' },
      'Observation.constructor.name': { min: 1, fixedString: 'Object' },
    })
    expect(await found({ definitions: [odd] })).toEqual([])
  })

  it('finds all of its type where the profile is not known, and where profiles are not looked at', async () => {
    expect(await found({})).toEqual(['a', 'b', 'c', 'd'])
    expect(await found({ definitions: [coded], profiles: 'any' })).toEqual(['a', 'b', 'c', 'd'])
  })

  it('finds what declares the profile in whatever version, where that is asked for', async () => {
    expect(await found({ definitions: [coded], profiles: 'declared' })).toEqual(['b'])
  })

  it('finds by a profile that comes with the release', async () => {
    expect(await found({ profile: 'http://hl7.org/fhir/StructureDefinition/bodyweight' })).toEqual([])
  })

  it('is explained by what the nearest resources lack', async () => {
    const definition = profileOf('Coded', 'snapshot', { 'Observation.status': { min: 1, fixedCode: 'amended' } })
    const elm = await elmOf('define X: exists [Observation]', { Observation: `${PROFILE}Coded` })
    const input = { library: libraryOf(elm), subject: 'Patient/p', explain: true }
    const { explanation } = await evaluateCql(contextWith(definition), input)
    expect(explanation?.criteria?.[0]).toMatchObject({
      result: 'false',
      reason: expect.stringContaining(
        `4 Observations, none of the profile ${PROFILE}Coded; Observation/a: \`status\` is not as the profile asks.`,
      ),
      nearest: [{ resource: 'Observation/a', missedBy: 'condition' }, {}, {}],
    })
  })

  it('is refused by an option that does not exist', async () => {
    expect(() => Reflect.apply(cqlLanguage, undefined, [{ profiles: 'all' }])).toThrow(
      'cqlLanguage: profiles must be any or declared or fixed.',
    )
  })
})

describe('a Measure with retrieves by profile counts', () => {
  const MEASURE = (expression: string): object => ({
    resourceType: 'Measure',
    id: 'm',
    status: 'active',
    library: ['http://x/Library/Main'],
    scoring: { coding: [{ code: 'cohort' }] },
    group: [
      { population: [{ code: { coding: [{ code: 'initial-population' }] }, criteria: { language: 'text/cql-identifier', expression } }] },
    ],
  })
  const category = { 'Observation.category:vital': { min: 1, patternCodeableConcept: { coding: [{ code: 'vital' }] } } }
  const other = [
    { resourceType: 'Patient', id: 'q' },
    { ...observation('e', { code: of('1'), category: [of('lab')] }), subject: { reference: 'Patient/q' } },
  ]

  it.each<[string, number]>([
    ['exists [Observation]', 0],
    ['exists [Observation]', 1_000_000],
    ["exists ([Observation] O where O.status = 'final')", 0],
    ["exists ([Observation] O where O.status = 'final')", 1_000_000],
  ])('%s, with %d bytes to keep', async (expression, keepBytes) => {
    const elm = await elmOf(`define X: ${expression}`, { Observation: `${PROFILE}Coded` })
    const count = async (definitions: readonly object[], profiles?: RetrievedProfiles): Promise<number | undefined> => {
      const ctx = contextWith(...other, ...definitions, libraryOf(elm), MEASURE('X'))
      const languages = [cqlLanguage({ keepBytes, profiles })]
      const input = { measure: 'm', periodStart: '2020', periodEnd: '2020' }
      await evaluateMeasure(ctx, input, { languages })
      return (await evaluateMeasure(ctx, input, { languages })).groups[0]?.populations[0]?.count
    }
    expect(await count([])).toBe(2)
    expect(await count([profileOf('Coded', 'snapshot', category)])).toBe(1)
    expect(await count([profileOf('Coded', 'snapshot', category)], 'any')).toBe(2)
    expect(await count([], 'declared')).toBe(1)
  })
})
