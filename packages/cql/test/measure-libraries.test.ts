import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { evaluateMeasure } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { putResource } from 'fhir-ops/storage'
import { describe, expect, it } from 'vitest'
import { cqlLanguage } from '../src/index.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()

interface Stored {
  readonly resourceType: string
  readonly id: string
  readonly [member: string]: unknown
}

/** A library whose definitions follow the head, at `http://x/Library/<name>` unless it says otherwise. */
function library(
  name: string,
  statements: string,
  { includes = '', version = '1', ...more }: Readonly<Record<string, unknown>> = {},
): Stored {
  const text = `library ${name} version '${String(version)}'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
${String(includes)}
context Patient
${statements}`
  const content = [{ contentType: 'text/cql', data: btoa(text) }]
  const type = { coding: [{ code: 'logic-library' }] }
  const head = { id: `${name}-${String(version)}`, url: `http://x/Library/${name}`, name, version, status: 'active', type, content }
  return { resourceType: 'Library', ...head, ...more }
}

/** How many subjects are in the initial population, of `a`, who is a woman, and `b`, who is not. */
async function counted(
  stored: readonly Stored[],
  named: readonly string[],
  expression: string,
  {
    language = 'text/cql-identifier',
    ofMeasure = {},
    manifest,
  }: { readonly language?: string; readonly ofMeasure?: object; readonly manifest?: string } = {},
): Promise<number | undefined> {
  const basis = { url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: 'boolean' }
  const population = [{ code: { coding: [{ code: 'initial-population' }] }, criteria: { language, expression } }]
  const measure = {
    resourceType: 'Measure',
    id: 'm',
    status: 'active',
    library: named,
    group: [{ extension: [basis], population }],
    ...ofMeasure,
  }
  const people = [
    { resourceType: 'Patient', id: 'a', gender: 'female' },
    { resourceType: 'Patient', id: 'b', gender: 'male' },
  ]
  const ctx = createContext({ ...release, types, storage: memoryStorage([...stored, ...people, measure], { indexer: release.indexer }) })
  const input = { measure: 'm', periodStart: '2020', periodEnd: '2020', manifest }
  const { groups } = await evaluateMeasure(ctx, input, { languages: [cqlLanguage({ translator })] })
  return groups[0]?.populations[0]?.count
}

const everybody = library('Everybody', 'define All: true\ndefine Both: false')
const women = library('Women', "define Women: Patient.gender = 'female'\ndefine Both: true\ndefine Females: Women")
const both = [everybody, women]
const names = ['http://x/Library/Everybody', 'http://x/Library/Women|1']

describe('libraries of a measure', () => {
  it.each([
    ['the primary one', 'All', 2],
    ['another one', 'Women', 1],
    ['another one, in quotes', '"Women"', 1],
    ['the primary one before others', 'Both', 0],
    ['the one that is said', 'Women.Both', 2],
    ['the one that is said, in quotes', '"Women"."Women"', 1],
  ])('a name is that of a definition of %s', async (_, expression, count) => {
    expect(await counted(both, names, expression)).toBe(count)
  })

  it('expressions use all by their names', async () => {
    expect(await counted(both, names, 'Everybody."All" and Women."Women"', { language: 'text/cql-expression' })).toBe(1)
  })

  it.each([
    ['definitions', 'All and Females', 1],
    ['those of the primary library before others', 'Both or Females', 1],
    ['functions, also overloaded ones', 'Same(Same(1)) = 1 and Same({@2020-01-01}) = {@2020-01-01}', 2],
    ['functions of resources', 'IsA(Patient) or Patient.Fluent()', 1],
    ['parameters', 'Least = 3', 2],
    ['codes, and names with quotes', String.raw`"The \"Code\"".code = 'f'`, 2],
    ['value sets', 'exists [Encounter: "Kinds"]', 1],
    ['value sets in conditions', 'exists ([Encounter] E where E.type[0] in "Kinds")', 1],
    ['definitions without a subject', 'Count(Everything) = 2', 2],
    ['all, by qualified names besides', 'All and Everybody.All and "Women"."Women"', 1],
  ])('expressions name %s without the library', async (_, expression, count) => {
    const includes = String.raw`codesystem "CS": 'http://x/cs'
valueset "Kinds": 'http://x/ValueSet/kinds' version '2'
code "The \"Code\"": 'f' from "CS"
parameter Least Integer default 3`
    const statements = `define All: true
define Both: false
define function Same(a Integer): a
define function Same(a List<Date>): a
define function IsA(who FHIR.Patient): who.id = 'a'
define fluent function Fluent(who FHIR.Patient): who.id = 'a'
context Unfiltered
define Everything: [Encounter]`
    const compose = { include: [{ system: 'http://x/cs', concept: [{ code: 'visit' }] }] }
    const kinds = { resourceType: 'ValueSet', id: 'kinds', url: 'http://x/ValueSet/kinds', version: '2', status: 'active', compose }
    const visit = (of: string, code: string): Stored => {
      const type = [{ coding: [{ system: 'http://x/cs', code }] }]
      return {
        resourceType: 'Encounter',
        id: of,
        status: 'finished',
        class: { code: 'AMB' },
        type,
        subject: { reference: `Patient/${of}` },
      }
    }
    const stored = [library('Everybody', statements, { includes }), women, kinds, visit('a', 'visit'), visit('b', 'call')]
    expect(await counted(stored, names, expression, { language: 'text/cql-expression' })).toBe(count)
  })

  it.each([
    ['private definitions', 'Everybody', 'define private Females: true'],
    ['what two others define', 'Third', 'define Females: true'],
  ])('expressions do not see %s', async (_, name, statements) => {
    const stored = [...both.filter((one) => one['name'] !== name), library(name, statements)]
    const named = ['http://x/Library/Everybody', ...(name === 'Third' ? ['http://x/Library/Women', 'http://x/Library/Third'] : [])]
    await expect(counted(stored, named, 'Females and true', { language: 'text/cql-expression' })).rejects.toMatchObject({
      code: 'definition-invalid',
      message: expect.stringContaining('Could not resolve identifier Females'),
    })
  })

  it('a name that several define, and not the primary one, is refused', async () => {
    const third = library('Third', 'define Women: true')
    await expect(counted([...both, third], [...names, third['url']].map(String), 'Women')).rejects.toMatchObject({
      code: 'definition-invalid',
      message: expect.stringContaining('Women and Third'),
    })
  })

  it('all that do not exist are named', async () => {
    await expect(counted(both, [...names, 'http://x/Library/None', 'Library/nobody'], 'All')).rejects.toMatchObject({
      code: 'definition-not-found',
      message: expect.stringContaining("'http://x/Library/None', 'Library/nobody'"),
    })
  })

  it('can be contained in the Measure', async () => {
    const contained = [{ ...women, id: 'own', url: undefined }]
    expect(await counted([everybody], ['#own'], 'Women', { ofMeasure: { contained } })).toBe(1)
    await expect(counted([everybody], ['#other'], 'Women', { ofMeasure: { contained } })).rejects.toThrow(
      "The library '#other' of the Measure",
    )
  })

  it('one without a url is known by its identifier in expressions', async () => {
    const own = library('Own', "define Women: Patient.gender = 'female'", { id: 'own', url: undefined, name: 'Otherwise' })
    expect(await counted([own], ['Library/own'], 'Own."Women"', { language: 'text/cql-expression' })).toBe(1)
  })
})

describe('an included library', () => {
  const main = (more: Readonly<Record<string, unknown>> = {}): Stored =>
    library('Main', 'define Women: Shared.Women', { includes: 'include Shared', ...more })
  const shared = library('Shared', "define Women: Patient.gender = 'female'", { url: 'http://elsewhere/Library/Shared' })
  const newer = library('Shared', 'define Women: true', { url: 'http://elsewhere/Library/Shared', version: '2' })

  it('is the one on which the including one depends, in that version', async () => {
    const relatedArtifact = [{ type: 'depends-on', resource: 'http://elsewhere/Library/Shared|1' }]
    expect(await counted([main({ relatedArtifact }), shared, newer], ['http://x/Library/Main'], 'Women')).toBe(1)
  })

  it('is found among those that the measure names', async () => {
    expect(await counted([main(), shared], ['http://x/Library/Main', 'http://elsewhere/Library/Shared'], 'Women')).toBe(1)
  })

  it.each([
    ['on the line of another clause', "/* include None */ include Shared version '1' called Shared"],
    ['over several lines', "include Shared\n  version '1'\n  called Shared"],
    ['with the namespace of its guide', "include org.example.Shared version '1'"],
    ['beside one that is a comment', "/*\ninclude None\n*/\ninclude Shared version '1'"],
  ])('is found %s', async (_, includes) => {
    const one = library('Shared', "define Women: Patient.gender = 'female'")
    expect(await counted([main({ includes }), one, newer], ['http://x/Library/Main'], 'Women')).toBe(1)
  })

  it('may have the number of another release of FHIR as its version', async () => {
    const one = library('Shared', "define Women: Patient.gender = 'female'", { version: '4.0.0' })
    const includes = "include Shared version '4.0.0'"
    expect(await counted([main({ includes, version: '4.0.0' }), one], ['http://x/Library/Main'], 'Women')).toBe(1)
  })

  it('cannot be there in two versions', async () => {
    const one = library('Shared', "define Women: Patient.gender = 'female'")
    const two = library('Shared', 'define Women: true', { version: '2' })
    const middle = library('Middle', 'define Women: Shared.Women', { includes: "include Shared version '2'" })
    const top = library('Top', 'define Women: Shared.Women and Middle.Women', {
      includes: "include Shared version '1'\ninclude Middle version '1'",
    })
    await expect(counted([one, two, middle, top], ['http://x/Library/Top'], 'Women')).rejects.toMatchObject({
      code: 'not-supported',
      message: expect.stringContaining("versions '1' and '2'"),
    })
  })
})

describe('two libraries with one name', () => {
  const women = "define Women: Patient.gender = 'female'"
  const top = (includes: string): Stored =>
    library('Top', 'define Women: Shared.Women or Middle.Women', { includes: `${includes}\ninclude Middle version '1'` })
  const dependency = (url: string): object => ({ relatedArtifact: [{ type: 'depends-on', resource: url }] })

  it.each<[string, readonly Stored[], string]>([
    [
      'of several namespaces',
      [
        top("include org.one.Shared version '1'"),
        library('Middle', 'define Women: Shared.Women', { includes: "include org.two.Shared version '1'" }),
        library('Shared', women),
      ],
      "namespaces 'org.one' and 'org.two'",
    ],
    [
      'of several places',
      [
        top("include Shared version '1'"),
        library('Middle', 'define Women: Shared.Women', { includes: 'include Shared', ...dependency('http://elsewhere/Library/Shared') }),
        library('Shared', women),
        library('Shared', 'define Women: true', { id: 'other', url: 'http://elsewhere/Library/Shared' }),
      ],
      "as 'http://x/Library/Shared' and 'http://elsewhere/Library/Shared'",
    ],
  ])('%s are refused', async (_, stored, words) => {
    await expect(counted(stored, ['http://x/Library/Top'], 'Women')).rejects.toMatchObject({
      code: 'not-supported',
      message: expect.stringContaining(words),
    })
  })

  it('may be copies of one', async () => {
    const middle = library('Middle', 'define Women: Shared.Women', {
      includes: 'include Shared',
      ...dependency('http://elsewhere/Library/Shared'),
    })
    const copies = [library('Shared', women), library('Shared', women, { id: 'other', url: 'http://elsewhere/Library/Shared' })]
    expect(await counted([top("include Shared version '1'"), middle, ...copies], ['http://x/Library/Top'], 'Women')).toBe(1)
  })
})

describe('a library that brings ELM', () => {
  const criteria = { language: 'text/cql-identifier', expression: 'Some' }
  const group = [{ population: [{ code: { coding: [{ code: 'initial-population' }] }, criteria }] }]
  const measure = { resourceType: 'Measure', id: 'm', status: 'active', library: ['Library/l'], group }
  const people = ['a', 'b'].map((id) => ({ resourceType: 'Patient', id, gender: id === 'a' ? 'female' : 'male' }))
  const withElm = async (condition: string): Promise<Stored> => {
    const { elm } = await translator.translate(
      `library L using FHIR version '4.0.1' include FHIRHelpers version '4.0.1' context Patient define Some: ${condition}`,
    )
    const content = [{ contentType: 'application/elm+json', data: btoa(JSON.stringify(elm)) }]
    return { resourceType: 'Library', id: 'l', name: 'L', status: 'active', type: { text: 'logic-library' }, content }
  }

  it('is evaluated as it is stored', async () => {
    const storage = memoryStorage([measure, ...people], { indexer: release.indexer })
    const ctx = createContext({ ...release, types, storage })
    const languages = [cqlLanguage({ keepBytes: 1_000_000 })]
    const counts: (number | undefined)[] = []
    for (const condition of ['true', "Patient.gender = 'female'", 'true']) {
      const source = await withElm(condition)
      await storage.write([putResource({ type: 'Library', id: 'l', source }, release.indexer)])
      const { groups } = await evaluateMeasure(ctx, { measure: 'm', periodStart: '2020', periodEnd: '2020' }, { languages })
      counts.push(groups[0]?.populations[0]?.count)
    }
    expect(counts).toEqual([2, 1, 2])
  })
})

describe('versions that CQL leaves open', () => {
  const VALUES = 'http://x/ValueSet/Kinds'
  const values = (version: string, codes: readonly string[]): Stored => ({
    resourceType: 'ValueSet',
    id: `kinds-${version}`,
    url: VALUES,
    version,
    status: 'active',
    compose: { include: [{ system: 'http://x/kinds', concept: codes.map((code) => ({ code })) }] },
  })
  const visits = ['call', 'visit'].map((code, at): Stored => {
    const coding = [{ system: 'http://x/kinds', code }]
    return {
      resourceType: 'Encounter',
      id: code,
      status: 'finished',
      class: { code: 'AMB' },
      type: [{ coding }],
      subject: { reference: `Patient/${'ab'[at] ?? ''}` },
    }
  })
  const kinds = library('Kinds', `define Seen: exists [Encounter: "Kinds"]`, { includes: `valueset "Kinds": '${VALUES}'` })
  const data = [values('1', ['call']), values('2', ['call', 'visit']), ...visits]
  const pinning = (...canonicals: readonly string[]): object => ({
    relatedArtifact: canonicals.map((resource) => ({ type: 'depends-on', resource })),
  })
  const expanding = (name: string, valueUri: string): object => ({
    contained: [{ resourceType: 'Parameters', id: 'exp', parameter: [{ name, valueUri }] }],
    extension: [{ url: 'http://hl7.org/fhir/uv/crmi/StructureDefinition/crmi-expansionParameters', valueReference: { reference: '#exp' } }],
  })
  const url = 'http://x/Library/Kinds'

  it.each<[string, object, object, number]>([
    ['the newest', {}, {}, 2],
    ['that of the dependencies of the library', pinning(`${VALUES}|1`), {}, 1],
    ['that of its expansion parameters', expanding('valueset-version', `${VALUES}|1`), {}, 1],
    [
      'that of expansion parameters before that of dependencies',
      { ...pinning(`${VALUES}|2`), ...expanding('canonicalVersion', `${VALUES}|1`) },
      {},
      1,
    ],
    ['that of the Measure before that of the library', pinning(`${VALUES}|2`), pinning(`${VALUES}|1`), 1],
    ['that of the expansion parameters of the Measure', {}, expanding('default-valueset-version', `${VALUES}|1`), 1],
    ['no version that nothing states', pinning(VALUES), {}, 2],
  ])('of a value set are %s', async (_, ofLibrary, ofMeasure, expected) => {
    expect(await counted([{ ...kinds, ...ofLibrary }, ...data], [url], 'Seen', { ofMeasure })).toBe(expected)
  })

  it('of an included library are those that the Measure or the including library states', async () => {
    const parts = [library('Part', 'define Yes: true'), library('Part', 'define Yes: false', { version: '2' })]
    const including = library('Kinds', 'define Seen: Part.Yes', { includes: 'include Part' })
    const seen = (ofLibrary: object, ofMeasure: object): Promise<number | undefined> =>
      counted([{ ...including, ...ofLibrary }, ...parts], [url], 'Seen', { ofMeasure })
    const one = pinning('http://x/Library/Part|1')
    expect([await seen({}, {}), await seen(one, {}), await seen({}, one), await seen(pinning('http://x/Library/Part'), one)]).toEqual([
      0, 2, 2, 2,
    ])
  })

  it('are refused where libraries contradict each other, unless the Measure says which one applies', async () => {
    const including = library('All', 'define Seen: Kinds.Seen', { includes: 'include Kinds', ...pinning(`${VALUES}|2`) })
    const stored = [including, { ...kinds, ...pinning(`${VALUES}|1`) }, ...data]
    await expect(counted(stored, ['http://x/Library/All'], 'Seen')).rejects.toMatchObject({
      code: 'definition-invalid',
      message: expect.stringContaining(`pin '${VALUES}' to the versions`),
    })
    expect(await counted(stored, ['http://x/Library/All'], 'Seen', { ofMeasure: pinning(`${VALUES}|1`) })).toBe(1)
  })

  const manifestOf = (version: string, ...canonicals: readonly string[]): Stored => ({
    resourceType: 'Library',
    id: `manifest-${version}`,
    url: 'http://x/Library/Manifest',
    version,
    status: 'active',
    type: { coding: [{ code: 'asset-collection' }] },
    ...pinning(...canonicals),
  })

  it('are those of the manifest that a call names, before those of the Measure and its libraries', async () => {
    const stored = [{ ...kinds, ...pinning(`${VALUES}|2`) }, ...data, manifestOf('1', `${VALUES}|2`), manifestOf('2', `${VALUES}|1`)]
    const seen = (manifest: string): Promise<number | undefined> =>
      counted(stored, [url], 'Seen', { manifest, ofMeasure: pinning(`${VALUES}|2`) })
    expect([await seen('http://x/Library/Manifest'), await seen('http://x/Library/Manifest|1')]).toEqual([1, 2])
    await expect(seen('http://x/Library/Manifest|3')).rejects.toMatchObject({
      code: 'not-found',
      message: "The manifest 'http://x/Library/Manifest|3' does not exist.",
      expression: ['manifest'],
    })
  })

  it('of libraries are those of a manifest, whether the Measure or a library names them', async () => {
    const parts = [library('Part', 'define Yes: true'), library('Part', 'define Yes: false', { version: '2' })]
    const including = library('Kinds', 'define Seen: Part.Yes', { includes: 'include Part' })
    const newer = library('Kinds', 'define Seen: false', { version: '2' })
    const stored = [...parts, including, newer, manifestOf('1', 'http://x/Library/Part|1', `${url}|1`)]
    expect(await counted(stored, [url], 'Seen', { manifest: 'http://x/Library/Manifest' })).toBe(2)
  })

  it('of code systems apply within value sets', async () => {
    const system = (version: string, codes: readonly string[]): Stored => {
      const concept = codes.map((code) => ({ code }))
      return {
        resourceType: 'CodeSystem',
        id: `s${version}`,
        url: 'http://x/kinds',
        version,
        status: 'active',
        content: 'complete',
        concept,
      }
    }
    const all = { ...values('1', []), compose: { include: [{ system: 'http://x/kinds' }] } }
    const stored = [kinds, all, ...visits, system('1', ['call']), system('2', ['call', 'visit'])]
    const stated = [{}, pinning('http://x/kinds|1'), expanding('system-version', 'http://x/kinds|1')]
    const counts: (number | undefined)[] = []
    for (const ofMeasure of stated) counts.push(await counted(stored, [url], 'Seen', { ofMeasure }))
    expect(counts).toEqual([2, 1, 1])
  })

  it('that a manifest states are refused for a Measure of searches', async () => {
    const seen = counted([manifestOf('1')], [], 'Patient?gender=female', {
      language: 'application/x-fhir-query',
      manifest: 'http://x/Library/Manifest',
    })
    await expect(seen).rejects.toMatchObject({ code: 'parameter-unsupported', expression: ['manifest'] })
  })

  it('that do not exist are named', async () => {
    const stored = [{ ...kinds, ...pinning(`${VALUES}|3`) }, ...data]
    await expect(counted(stored, [url], 'Seen')).rejects.toMatchObject({
      code: 'definition-not-found',
      message: expect.stringContaining(`${VALUES}|3`),
    })
  })
})
