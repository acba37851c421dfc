import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loinc } from '@fhir-ops/loinc-rxnorm'
import { createContext } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { lookup } from 'fhir-ops/lookup'
import { memoryConceptStore, memoryStorage } from 'fhir-ops/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../program.js'
import { importLoinc } from '@fhir-ops/loinc-rxnorm/import'

const LOINC = 'http://loinc.org'

/** A release of invented codes, as files by name. */
const RELEASE: Readonly<Record<string, string>> = {
  'LoincTable/Loinc.csv': `"LOINC_NUM","COMPONENT","SCALE_TYP","CLASS","DefinitionDescription","STATUS","CLASSTYPE","SHORTNAME","LONG_COMMON_NAME","EXTERNAL_COPYRIGHT_NOTICE","AskAtOrderEntry","CONSUMER_NAME","DOCUMENT_SECTION"
"1-1","Sugar","Qn","CHEM","Sweet, and ""white""
in a cup","ACTIVE","1","Sug","Sugar [Mass/volume] in Tea","","2-2;3-3","Sweetness",""
"2-2","Sugar","Doc","TEA.NOTE","","ACTIVE","2","","Sugar note","Copyright of a maker of tea","","Note; Letter","Both"
"3-3","Salt","Qn","CHEM","","DEPRECATED","1","","Salt in Tea","","","",""
`,
  'AccessoryFiles/PartFile/Part.csv': `"PartNumber","PartTypeName","PartName","PartDisplayName","Status"
"LP1-1","COMPONENT","Sugar","Sugar","ACTIVE"
"LP2-2","SCALE","Doc","Document","ACTIVE"
"LP3-3","Document.Kind","Note","Note","ACTIVE"
`,
  'AccessoryFiles/PartFile/LoincPartLink_Primary.csv': `"LoincNumber","LongCommonName","PartNumber","PartName","PartCodeSystem","PartTypeName","LinkTypeName","Property"
"1-1","","LP1-1","Sugar","http://loinc.org","COMPONENT","Primary","http://loinc.org/property/COMPONENT"
"2-2","","LP1-1","Sugar","http://loinc.org","COMPONENT","Primary","http://loinc.org/property/COMPONENT"
"2-2","","LP2-2","Doc","http://loinc.org","SCALE","Primary","http://loinc.org/property/SCALE_TYP"
"2-2","","LP3-3","Note","http://loinc.org","Document.Kind","DocumentOntology","http://loinc.org/property/document-kind"
`,
  'AccessoryFiles/PartFile/LoincPartLink_Supplementary.csv': `"LoincNumber","LongCommonName","PartNumber","PartName","PartCodeSystem","PartTypeName","LinkTypeName","Property"
"3-3","","LP4-4","CHEM","http://loinc.org","CLASS","Metadata","http://loinc.org/property/CLASS"
"3-3","","LP5-5","Salt","http://loinc.org","COMPONENT","DetailedModel","http://loinc.org/property/analyte"
`,
  'AccessoryFiles/AnswerFile/AnswerList.csv': `"AnswerListId","AnswerListName","AnswerStringId","SequenceNumber","DisplayText"
"LL1-1","Yes|No","LA1-1","1","Yes"
"LL1-1","Yes|No","LA2-2","2","No"
"LL2-2","Outside","","",""
`,
  'AccessoryFiles/AnswerFile/LoincAnswerListLink.csv': `"LoincNumber","LongCommonName","AnswerListId","AnswerListName","AnswerListLinkType","ApplicableContext"
"2-2","Sugar note","LL1-1","Yes|No","NORMATIVE",""
`,
  'AccessoryFiles/GroupFile/ParentGroup.csv': `"ParentGroupId","ParentGroup","Status"
"LG1-1","Things in tea","ACTIVE"
`,
  'AccessoryFiles/GroupFile/Group.csv': `"ParentGroupId","GroupId","Group","Archetype","Status","VersionFirstReleased"
"LG1-1","LG2-2","Sugar in tea","","ACTIVE","9.98"
"LG1-1","LG3-3","Salt in tea","","DEPRECATED","9.98"
`,
  'AccessoryFiles/GroupFile/GroupLoincTerms.csv': `"Category","GroupId","Archetype","LoincNumber","LongCommonName"
"Tea","LG2-2","","1-1","Sugar [Mass/volume] in Tea"
"Tea","LG2-2","","2-2","Sugar note"
"Tea","LG3-3","","3-3","Salt in Tea"
`,
  'AccessoryFiles/ComponentHierarchyBySystem/ComponentHierarchyBySystem.csv': `"PATH_TO_ROOT","SEQUENCE","IMMEDIATE_PARENT","CODE","CODE_TEXT"
"","1","","LP9-9","Kitchen"
"LP9-9","1","LP9-9","LP1-1","Sugar"
"LP9-9.LP1-1","1","LP1-1","1-1","Sugar in Tea"
`,
  'AccessoryFiles/ConsumerName/ConsumerName.csv': `"LoincNumber","ConsumerName"
"1-1","Sweetness"
`,
  'AccessoryFiles/LinguisticVariants/LinguisticVariants.csv': '"ID","ISO_LANGUAGE","ISO_COUNTRY","LANGUAGE_NAME","PRODUCER"\n',
  'AccessoryFiles/LinguisticVariants/deAT24LinguisticVariant.csv': `"LOINC_NUM","LONG_COMMON_NAME","LinguisticVariantDisplayName"
"1-1","Zucker [Masse/Volumen] im Tee","Zucker im Tee"
"2-2","","Zuckerbrief"
`,
  'AccessoryFiles/LinguisticVariants/frFR18LinguisticVariant.csv': '"LOINC_NUM","LONG_COMMON_NAME"\n"1-1","Sucre dans le thé"\n',
  'LoincTable/MapTo.csv': `"LOINC","MAP_TO","COMMENT"
"3-3","1-1",""
`,
}

const folder = mkdtempSync(join(tmpdir(), 'import-loinc-'))
const release = join(folder, 'Loinc_9.99')
const store = memoryConceptStore()
const ctx = createContext({ storage: memoryStorage(), concepts: store, codeSystems: [loinc()] })
const progress = (): void => undefined

beforeAll(async () => {
  for (const [name, text] of Object.entries(RELEASE)) {
    mkdirSync(dirname(join(release, name)), { recursive: true })
    writeFileSync(join(release, name), text)
  }
  await importLoinc(store, release, { languages: ['de-AT'], progress })
})

afterAll(() => rmSync(folder, { recursive: true }))

async function codesWith(property: string, op: string, value: string): Promise<readonly string[]> {
  const include = [{ system: LOINC, filter: [{ property, op, value }] }]
  const { contains } = await expand(ctx, {
    valueSet: { resourceType: 'ValueSet', status: 'active', compose: { include } },
    excludeNested: true,
  })
  return contains.map(({ code }) => code).toSorted()
}

describe('an imported release of LOINC', () => {
  it('tells all that the release says about a code', async () => {
    const found = await lookup(ctx, { system: LOINC, code: '1-1', properties: ['*'] })
    expect(found).toMatchObject({
      name: 'LOINC',
      version: '9.99',
      display: 'Sugar [Mass/volume] in Tea',
      definition: 'Sweet, and "white"\nin a cup',
    })
    expect(found.designations.map(({ value }) => value)).toEqual(expect.arrayContaining(['Sug', 'Sweetness']))
    const properties = found.properties.map(({ code, value: [, value] }) => [code, value])
    expect(properties).toContainEqual(['COMPONENT', { system: LOINC, code: 'LP1-1', display: 'Sugar' }])
    expect(properties).toContainEqual(['CLASS', 'CHEM'])
    expect(properties).toContainEqual(['parent', 'LP1-1'])
    expect(properties.filter(([code]) => code === 'AskAtOrderEntry')).toEqual([
      ['AskAtOrderEntry', '2-2'],
      ['AskAtOrderEntry', '3-3'],
    ])
  })

  it.each([
    ['1-1', 'de', 'Zucker im Tee'],
    ['2-2', 'de-AT', 'Zuckerbrief'],
    ['1-1', 'fr', 'Sugar [Mass/volume] in Tea'],
  ])('calls %s in %s: %s', async (code, displayLanguage, display) => {
    expect(await lookup(ctx, { system: LOINC, code, displayLanguage })).toMatchObject({ display })
  })

  it.each([
    ['LA1-1', 'Yes'],
    ['LL1-1', 'Yes|No'],
    ['LP2-2', 'Document'],
    ['LP9-9', 'Kitchen'],
    ['LG1-1', 'Things in tea'],
    ['LG2-2', 'Sugar in tea'],
  ])('knows %s, which is not a code of an observation', async (code, display) => {
    expect(await lookup(ctx, { system: LOINC, code })).toMatchObject({ display })
  })

  it('calls deprecated codes inactive and tells what takes their place', async () => {
    const { properties } = await lookup(ctx, { system: LOINC, code: '3-3', properties: ['MAP_TO'] })
    expect(properties.map(({ code, value: [, value] }) => [code, value])).toEqual([
      ['inactive', true],
      ['MAP_TO', '1-1'],
    ])
  })

  it.each([
    ['COMPONENT', '=', 'LP1-1', ['1-1', '2-2']],
    ['COMPONENT', '=', 'sugar', ['1-1', '2-2']],
    ['COMPONENT', 'in', 'Sugar,Salt', ['1-1', '2-2', '3-3']],
    ['SCALE_TYP', '=', 'DOC', ['2-2']],
    ['CLASS', 'regex', 'TEA(\\..*)?|X', ['2-2']],
    ['CLASS', '=', 'chem', ['1-1', '3-3']],
    ['CLASS', '=', 'LP4-4', ['3-3']],
    ['CLASSTYPE', '=', '1', ['1-1', '3-3']],
    ['CONSUMER_NAME', '=', 'Sweetness', ['1-1']],
    ['CONSUMER_NAME', '=', 'Note', ['2-2']],
    ['CONSUMER_NAME', 'exists', 'true', ['1-1', '2-2']],
    ['DOCUMENT_SECTION', '=', 'Both', ['2-2']],
    ['STATUS', '=', 'DEPRECATED', ['3-3', 'LG3-3']],
    ['Group', '=', 'LG2-2', ['1-1', '2-2']],
    ['parent', '=', 'LG1-1', ['LG2-2', 'LG3-3']],
    ['copyright', '=', '3rdParty', ['2-2']],
    ['LIST', '=', 'LL1-1', ['LA1-1', 'LA2-2']],
    ['LIST', '=', 'LL2-2', []],
    ['answers-for', '=', '2-2', ['LA1-1', 'LA2-2']],
    ['answers-for', '=', 'LL1-1', ['LA1-1', 'LA2-2']],
    ['answer-list', '=', 'LL1-1', ['2-2']],
    ['document-kind', 'exists', 'true', ['2-2']],
    ['document-kind', '=', 'note', ['2-2']],
    ['document-kind', '=', 'LP3-3', ['2-2']],
    ['parent', '=', 'LP1-1', ['1-1']],
    ['parent', 'in', 'LP1-1,LP9-9', ['1-1', 'LP1-1']],
    ['child', '=', '1-1', ['LP1-1']],
    ['ancestor', '=', 'LP9-9', ['1-1', 'LP1-1']],
    ['ancestor', 'in', 'LP1-1, LP7-7', ['1-1']],
    ['concept', 'is-a', 'LP9-9', ['1-1', 'LP1-1', 'LP9-9']],
  ])('is filtered by %s %s %s', async (property, op, value, codes) => {
    expect(await codesWith(property, op, value)).toEqual(codes)
  })

  it.each([
    ['http://loinc.org/vs/LL1-1', ['LA1-1', 'LA2-2']],
    ['http://loinc.org/vs/LP1-1', ['LP1-1', '1-1']],
    ['http://loinc.org/vs/LP1-1|9.99', ['LP1-1', '1-1']],
    ['http://loinc.org/vs/LG2-2', ['1-1', '2-2']],
    ['http://loinc.org/vs/LG1-1', ['1-1', '2-2', '3-3']],
  ])('has the value set %s', async (url, codes) => {
    expect((await expand(ctx, { url, excludeNested: true })).contains.map(({ code }) => code).toSorted()).toEqual(codes.toSorted())
  })

  it('has the value set of all codes', async () => {
    expect((await expand(ctx, { url: 'http://loinc.org/vs' })).total).toBe(14)
  })

  it.each(['http://loinc.org/vs/LL7-7', 'http://loinc.org/vs/LG7-7', 'http://loinc.org/vs/1-1', 'http://loinc.org/vs/LL1-1|1.0'])(
    'has no value set %s',
    async (url) => {
      await expect(expand(ctx, { url })).rejects.toMatchObject({ code: 'not-found' })
    },
  )

  it('is imported by the command, with the map of replaced codes', async () => {
    const out: string[] = []
    const io = { out: (line: string) => void out.push(line), err: () => undefined, stdin: async () => '' }
    const storage = `sqlite:${join(folder, 'content.db')}`
    expect(await run(['import', 'loinc', release, '--storage', storage], io)).toBe(0)
    expect(await run(['translate', '3-3', '--system', LOINC, '--url', 'http://loinc.org/map-to', '--storage', storage], io)).toBe(0)
    expect(out[0]).toBe('9.99')
    expect(out.join('\n')).toContain('1-1')
  })
})

describe('what is not a release', () => {
  it.each([
    ['a name without version', 'release', undefined, 'parameter-required'],
    ['a folder without Loinc.csv', 'Loinc_1.0', undefined, 'definition-invalid'],
    ['no folder', 'nothing', '1.0', 'not-found'],
  ])('%s is refused', async (_, name, version, code) => {
    if (name === 'Loinc_1.0') mkdirSync(join(folder, name))
    await expect(importLoinc(memoryConceptStore(), join(folder, name), { release: version, progress })).rejects.toMatchObject({ code })
  })

  it('a language that it has not is refused', async () => {
    const importing = importLoinc(memoryConceptStore(), release, { languages: ['sv-SE'], progress })
    await expect(importing).rejects.toMatchObject({ code: 'parameter-value', message: expect.stringContaining('de-AT, fr-FR') })
  })

  it.each([
    ['quotes that never end', '"LOINC_NUM","COMPONENT"\n"1-1","never ends', 'Loinc.csv has quotes that do not end'],
    ['a row that was cut off', '"LOINC_NUM","COMPONENT"\n"1-1"\n', '1 values for 2 columns in row 1 of Loinc.csv'],
    ['a column that is missing', '"COMPONENT"\n"Sugar"\n', 'no LOINC_NUM in row 1 of Loinc.csv'],
    ['another encoding', Buffer.from('"LOINC_NUM","COMPONENT"\n"1-1","é"\n', 'latin1'), 'Loinc.csv is not in UTF-8'],
  ])('nothing of it is kept when it is damaged: %s', async (_, text, message) => {
    const damaged = join(folder, 'Loinc_2.00')
    mkdirSync(damaged, { recursive: true })
    writeFileSync(join(damaged, 'Loinc.csv'), text)
    const empty = memoryConceptStore()
    const refused = { code: 'definition-invalid', message: expect.stringContaining(message) }
    await expect(importLoinc(empty, damaged, { progress })).rejects.toMatchObject(refused)
    expect(await empty.systems()).toEqual([])
  })
})
