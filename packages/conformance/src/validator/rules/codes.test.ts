import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf, issuesOf, validated } from './findings-of.js'
import { profileOn } from './profile-on.js'

const basic = (coding: JsonObject): JsonObject => ({ resourceType: 'Basic', code: { coding: [coding] } })
const tagged = (tag: JsonObject): JsonObject => ({ resourceType: 'Basic', meta: { tag: [tag] }, code: { text: 'x' } })
const encounter = (coding: JsonObject): JsonObject => ({ resourceType: 'Encounter', status: 'planned', class: coding })
const codeSystem = (stated: JsonObject): JsonObject => ({
  resourceType: 'CodeSystem',
  url: 'http://codes.test/cs',
  version: '1',
  status: 'active',
  content: 'complete',
  property: [{ code: 'inactive', uri: 'http://hl7.org/fhir/concept-properties#inactive', type: 'boolean' }],
  concept: [{ code: 'a' }, { code: 'old', property: [{ code: 'inactive', valueBoolean: true }] }],
  ...stated,
})
const known = (code: string): JsonObject => ({ system: 'http://codes.test/cs', code })
const deprecated = {
  url: 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status',
  valueCode: 'deprecated',
}
const basicProfile = (element: JsonObject): JsonObject => ({
  resourceType: 'StructureDefinition',
  url: 'http://codes.test/p',
  name: 'P',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Basic',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Basic',
  derivation: 'constraint',
  differential: { element: [element] },
})

describe('codings', () => {
  test.each<readonly [title: string, resource: JsonObject, system: JsonObject, said: readonly string[]]>([
    ['a code in use', basic(known('a')), {}, []],
    ['a code that is not in use any more', basic(known('old')), {}, ['warning concept-inactive Basic.code.coding[0]']],
    ['the code of a draft', basic(known('a')), { status: 'draft' }, ['information terminology-status Basic.code']],
    ['the code of an experiment', tagged(known('a')), { experimental: true }, []],
    ['the code of a deprecated system', basic(known('a')), { extension: [deprecated] }, ['information terminology-status Basic.code']],
    ['a code without system in a concept', basic({ code: 'a' }), {}, ['warning coding-system-missing Basic.code.coding[0]']],
    ['a code without system alone', tagged({ code: 'a' }), {}, ['warning coding-system-missing Basic.meta.tag[0]']],
    [
      'a system that nobody knows, in a concept',
      basic({ system: 'http://x.test', code: 'a' }),
      {},
      ['warning code-system-unknown Basic.code.coding[0].system'],
    ],
    [
      'a system that nobody knows, without a code',
      basic({ system: 'http://x.test', display: 'a' }),
      {},
      ['warning code-system-unknown Basic.code.coding[0].system'],
    ],
    ['the code of a retired system', basic(known('a')), { status: 'retired' }, ['information terminology-status Basic.code']],
    [
      'a system that nobody knows, alone',
      tagged({ system: 'http://x.test', code: 'a' }),
      {},
      ['information code-system-unknown Basic.meta.tag[0].system'],
    ],
    ['a system of examples, alone', tagged({ system: 'http://example.org/x', code: 'a' }), {}, []],
    [
      'the code of a supplement',
      basic(known('a')),
      { content: 'supplement', supplements: 'http://hl7.org/fhir/item-type' },
      ['error code-system-unknown Basic.code.coding[0].system'],
    ],
    [
      'a system that nobody knows where a value set is bound',
      encounter({ system: 'http://x.test', code: 'a' }),
      {},
      ['warning code-not-in-value-set Encounter.class', 'warning code-system-unknown Encounter.class.system'],
    ],
    [
      'a system that is not an absolute URI',
      basic({ system: 'x', code: 'a' }),
      {},
      ['error coding-system-form Basic.code.coding[0].system', 'warning code-system-unknown Basic.code.coding[0].system'],
    ],
  ])('%s', async (_, resource, stated, said) => {
    const found = await findingsOf(resource, [codeSystem(stated)], /^(code|coding|concept|terminology)-/)
    expect(found.toSorted()).toEqual(said)
  })

  test.each<readonly [what: string, stated: JsonObject, said: readonly string[]]>([
    ['a retired value set', { status: 'retired' }, ['information terminology-status Patient.gender']],
    ['a deprecated value set', { extension: [deprecated] }, ['information terminology-status Patient.gender']],
    ['a draft value set', { status: 'draft' }, []],
    ['an experimental value set', { experimental: true }, []],
    ['a value set in use', {}, []],
  ])('a lone code that a profile binds to %s', async (_, stated, said) => {
    const system = 'http://hl7.org/fhir/administrative-gender'
    const url = 'http://codes.test/genders'
    const valueSet = { resourceType: 'ValueSet', url, status: 'active', compose: { include: [{ system }] }, ...stated }
    const element = [{ path: 'Patient.gender', binding: { strength: 'required', valueSet: url } }]
    const profile = { ...basicProfile({}), url: 'http://codes.test/patient', type: 'Patient', differential: { element } }
    const own = { ...profile, baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient' }
    const resource = { resourceType: 'Patient', meta: { profile: ['http://codes.test/patient'] }, gender: 'male' }
    expect(await findingsOf(resource, [own, valueSet], /^(terminology|code)-/)).toEqual(said)
  })

  test.each<readonly [what: string, code: string, said: readonly string[]]>([
    ['searched', 'female', ['information terminology-status Patient.gender']],
    ['not searched, as the code was found before', 'male', []],
  ])('a lone code, and the status of an imported value set %s', async (_, gender, said) => {
    const system = 'http://hl7.org/fhir/administrative-gender'
    const valueSet = { resourceType: 'ValueSet', url: 'http://codes.test/genders', status: 'active' }
    const imported = { ...valueSet, url: 'http://codes.test/old', status: 'retired', compose: { include: [{ system }] } }
    const include = [{ system, concept: [{ code: 'male' }] }, { valueSet: [imported.url] }]
    const element = [{ path: 'Patient.gender', binding: { strength: 'required', valueSet: valueSet.url } }]
    const profile = { ...basicProfile({}), url: 'http://codes.test/patient', type: 'Patient', differential: { element } }
    const own = { ...profile, baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient' }
    const resource = { resourceType: 'Patient', meta: { profile: [profile.url] }, gender }
    expect(await findingsOf(resource, [own, imported, { ...valueSet, compose: { include } }], /^(terminology|code)-/)).toEqual(said)
  })

  test.each<readonly [what: string, imported: JsonObject, strength: string, code: string, isNoted: boolean]>([
    ['searched first', { status: 'retired' }, 'required', 'b', true],
    ['not searched, as the code was found before', { status: 'retired' }, 'required', 'a', false],
    ['of a draft', { status: 'draft' }, 'required', 'b', false],
    ['of an experiment', { experimental: true }, 'extensible', 'b', false],
    ['that is deprecated', { extension: [deprecated] }, 'extensible', 'b', true],
    ['that gives examples', { status: 'retired' }, 'example', 'b', false],
  ])('the status of an imported value set %s', async (_, stated, strength, code, isNoted) => {
    const system = { ...codeSystem({}), url: 'http://codes.test/ab', concept: [{ code: 'a' }, { code: 'b' }] }
    const listing = (name: string, include: JsonObject): JsonObject => ({
      resourceType: 'ValueSet',
      url: `http://codes.test/${name}`,
      status: 'active',
      compose: { include: [include] },
    })
    const one = listing('one', { system: system.url, concept: [{ code: 'a' }] })
    const other = { ...listing('other', { system: system.url }), ...stated }
    const both = { ...one, url: 'http://codes.test/both', compose: { include: [{ valueSet: [one['url']] }, { valueSet: [other['url']] }] } }
    const element = [{ path: 'Observation.method', binding: { strength, valueSet: both.url } }]
    const profile = { ...basicProfile({}), url: 'http://codes.test/o', type: 'Observation', differential: { element } }
    const observation = {
      resourceType: 'Observation',
      meta: { profile: [profile.url] },
      status: 'final',
      code: { text: 'x' },
      method: { coding: [{ system: system.url, code }] },
    }
    const definitions = [{ ...profile, baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Observation' }, system, one, other, both]
    expect(await findingsOf(observation, definitions, /^terminology-/)).toEqual(
      isNoted ? ['information terminology-status Observation.method'] : [],
    )
  })

  const ADDITIONAL = 'http://hl7.org/fhir/tools/StructureDefinition/additional-binding'

  test.each<readonly [purpose: string, said: readonly string[], extensionUrl?: string]>([
    ['required', ['error code-not-in-value-set Basic.code']],
    ['maximum', ['error code-not-in-value-set Basic.code']],
    ['minimum', []],
    ['extensible', ['warning code-not-in-value-set Basic.code']],
    ['preferred', ['information code-not-in-value-set Basic.code']],
    ['ui', []],
    ['required', [], 'http://hl7.org/fhir/StructureDefinition/additional-binding'],
  ])('a code beyond an additional binding of purpose %s', async (purpose, said, extensionUrl = ADDITIONAL) => {
    const url = 'http://codes.test/none'
    const valueSet = {
      resourceType: 'ValueSet',
      url,
      status: 'active',
      compose: { include: [{ system: 'http://hl7.org/fhir/item-type' }] },
    }
    const parts = [
      { url: 'purpose', valueCode: purpose },
      { url: 'valueSet', valueCanonical: url },
    ]
    const extension = [{ url: extensionUrl, extension: parts }]
    const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'example', extension } })
    const resource = { ...basic(known('a')), meta: { profile: ['http://codes.test/p'] } }
    expect(await findingsOf(resource, [codeSystem({}), valueSet, profile], /^code-/)).toEqual(said)
  })

  test.each<readonly [purpose: string, own: JsonObject | undefined, severity: string]>([
    ['extensible', undefined, 'warning'],
    ['extensible', { strength: 'extensible' }, 'warning'],
    ['extensible', { strength: 'required' }, 'warning'],
    ['preferred', { strength: 'extensible' }, 'information'],
    ['preferred', { strength: 'required' }, 'information'],
    ['required', { strength: 'required' }, 'error'],
  ])('an additional binding of purpose %s holds for what is derived, whose own binding is %j', async (purpose, own, severity) => {
    const valueSet = (url: string, system: string): JsonObject => ({
      resourceType: 'ValueSet',
      url,
      status: 'active',
      compose: { include: [{ system }] },
    })
    const parts = [
      { url: 'purpose', valueCode: purpose },
      { url: 'valueSet', valueCanonical: 'http://codes.test/none' },
    ]
    const extension = [{ url: ADDITIONAL, extension: parts }]
    const main = { strength: 'extensible', valueSet: 'http://codes.test/all' }
    const base = basicProfile({ path: 'Basic.code', binding: { ...main, extension } })
    const derived = {
      ...basicProfile({ path: 'Basic.code', min: 1, ...(own !== undefined && { binding: { ...main, ...own } }) }),
      url: 'http://codes.test/derived',
      baseDefinition: 'http://codes.test/p',
    }
    const definitions = [
      codeSystem({}),
      valueSet('http://codes.test/none', 'http://hl7.org/fhir/item-type'),
      valueSet('http://codes.test/all', 'http://codes.test/cs'),
      base,
      derived,
    ]
    const resource = { ...basic(known('a')), meta: { profile: [derived.url] } }
    expect(await findingsOf(resource, definitions, /^code-/)).toEqual([`${severity} code-not-in-value-set Basic.code`])
  })

  test('the code of a draft in a value set that is a draft too', async () => {
    const url = 'http://codes.test/vs'
    const valueSet = { resourceType: 'ValueSet', url, status: 'draft', compose: { include: [{ system: 'http://codes.test/cs' }] } }
    const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet: url } })
    const resource = { ...basic(known('a')), meta: { profile: ['http://codes.test/p'] } }
    expect(await findingsOf(resource, [codeSystem({ status: 'draft' }), valueSet, profile], /^terminology-/)).toEqual([])
  })
})

describe('the value set of a profile', () => {
  const listing = {
    resourceType: 'ValueSet',
    id: 'v',
    url: 'http://codes.test/vs',
    status: 'active',
    compose: {
      include: [{ system: 'http://codes.test/cs', concept: [{ code: 'a', display: 'Our A', designation: [{ value: 'Unser A' }] }] }],
    },
  }
  const bound = (valueSet: string, members: JsonObject = {}): JsonObject => ({
    ...basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet } }),
    ...members,
  })
  const claiming = (coding: JsonObject): JsonObject => ({
    ...basic({ system: 'http://codes.test/cs', ...coding }),
    meta: { profile: ['http://codes.test/p'] },
  })
  const system = codeSystem({
    concept: [
      { code: 'a', display: 'A' },
      { code: 'b', display: 'B' },
    ],
  })
  const contained = bound('#v', { contained: [listing] })
  const elsewhere = bound(listing.url)
  const WRONG = 'error display-wrong Basic.code.coding[0].display'

  test.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['gives displays', elsewhere, { code: 'a', display: 'our a' }, []],
    ['gives designations', elsewhere, { code: 'a', display: 'Unser A' }, []],
    ['leaves the displays of the code system', elsewhere, { code: 'a', display: 'A' }, []],
    ['gives no other displays', elsewhere, { code: 'a', display: 'X' }, [WRONG]],
    ['may be contained in it', contained, { code: 'a', display: 'Our A' }, []],
    ['is required when it is contained', contained, { code: 'b' }, ['error code-not-in-value-set Basic.code']],
  ])('%s', async (_, profile, coding, expected) => {
    expect(await findingsOf(claiming(coding), [system, listing, profile], /^(display|code-not|value-set)/)).toEqual(expected)
  })

  test('gives displays to codes that are written in another case, where the code system takes them', async () => {
    const definitions = [{ ...system, caseSensitive: undefined }, listing, elsewhere]
    expect(await findingsOf(claiming({ code: 'A', display: 'Our A' }), definitions, /^(display|code-)/)).toEqual([
      'information code-case Basic.code.coding[0].code',
    ])
  })

  test.each([
    [{}, 'X', "valid displays: 'Our A', 'Unser A', 'A'."],
    [{ language: 'en' }, 'X', "valid displays: 'Our A', 'Unser A'."],
    [{ language: 'en' }, 'A', undefined],
    [{ concept: [{ code: 'a' }] }, 'X', "valid displays: 'Our A', 'Unser A'."],
  ])('gives displays that a finding about a wrong one names: in the code system %j, %s', async (members, display, expected) => {
    const resource = { ...claiming({ code: 'a', display }), language: 'fr' }
    const { findings } = await validated(resource, [{ ...system, ...members }, listing, elsewhere])
    const wrong = findings.filter(({ kind }) => kind === 'display-wrong').map(({ text }) => text)
    expect(wrong).toEqual(expected === undefined ? [] : [expect.stringContaining(expected)])
  })

  const NOT_IN = ['error code-not-in-value-set Basic.code']
  test.each<[string, JsonObject, readonly string[]]>([
    ['preferred', { coding: [{ system: 'http://codes.test/cs', code: 'b' }] }, NOT_IN],
    ['preferred', { text: 'x' }, []],
    ['extensible', { text: 'x' }, NOT_IN],
  ])('that is the maximum of a binding that is %s, with %j', async (strength, code, expected) => {
    const extension = [{ url: 'http://hl7.org/fhir/StructureDefinition/elementdefinition-maxValueSet', valueCanonical: listing.url }]
    const profile = basicProfile({ path: 'Basic.code', binding: { strength, extension } })
    const resource = { resourceType: 'Basic', meta: { profile: ['http://codes.test/p'] }, code }
    expect(await findingsOf(resource, [system, listing, profile], /^code-not/)).toEqual(expected)
  })
})

describe('what is nearly a code', () => {
  const property = [{ code: 'status', uri: 'http://hl7.org/fhir/concept-properties#status', type: 'code' }]
  const lax = codeSystem({
    caseSensitive: false,
    property,
    concept: [
      { code: 'Abc', display: 'A  B' },
      { code: 'dep', property: [{ code: 'status', valueCode: 'deprecated' }] },
    ],
  })
  const AT = 'Basic.code.coding[0]'
  test.each<[string, JsonObject, readonly string[]]>([
    ['the code itself', { code: 'Abc', display: 'a  b' }, []],
    ['another case', { code: 'abc' }, [`information code-case ${AT}.code`]],
    ['a deprecated code', { code: 'dep' }, [`warning concept-inactive ${AT}`]],
    ['a display with other white space', { code: 'Abc', display: 'A B' }, [`error display-wrong ${AT}.display`]],
  ])('%s', async (_, coding, expected) => {
    expect(await findingsOf(basic({ ...known('x'), ...coding }), [lax], /^(code-|concept|display)/)).toEqual(expected)
  })

  test('a system that names the one that it supplements is a supplement, whatever it says of its content', async () => {
    const said = [`error code-system-unknown ${AT}.system`]
    const supplements = 'http://codes.test/other'
    expect(await findingsOf(basic(known('a')), [codeSystem({ supplements })], /^code-/)).toEqual(said)
    expect(await findingsOf(basic(known('a')), [codeSystem({ supplements, content: 'supplement' })], /^code-/)).toEqual(said)
  })

  test.each([
    ['http://terminology.hl7.org/CodeSystem/v2-0203', 'NNESP', []],
    ['http://terminology.hl7.org/CodeSystem/v2-0203', 'NNQQQ', [`error code-unknown ${AT}.code`]],
    [
      'https://terminology.hl7.org/CodeSystem/v2-0203',
      'MR',
      [`information coding-system-form ${AT}.system`, `warning code-system-unknown ${AT}.system`],
    ],
  ])('%s#%s', async (system, code, expected) => {
    expect(await findingsOf(basic({ system, code }), [], /^cod/)).toEqual(expected)
  })

  test.each([
    ['1', []],
    ['5', ['error code-version-mismatch Basic.code.coding[0].version', 'warning code-system-version Basic.code.coding[0].system']],
    ['9', ['error code-version-mismatch Basic.code.coding[0].version', 'error code-not-in-value-set Basic.code']],
  ])('the version %s of a bound code', async (version, expected) => {
    const list = {
      resourceType: 'ValueSet',
      url: 'http://codes.test/vs',
      status: 'active',
      compose: { include: [{ system: 'http://codes.test/cs', version: '1' }] },
    }
    const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet: list.url } })
    const resource = { ...basic({ ...known('a'), version }), meta: { profile: ['http://codes.test/p'] } }
    expect(await findingsOf(resource, [codeSystem({}), codeSystem({ version: '9' }), list, profile], /^code-/)).toEqual(expected)
  })

  test('a binding of a date means nothing', async () => {
    const valueSet = 'http://hl7.org/fhir/ValueSet/administrative-gender'
    const profile = basicProfile({ path: 'Basic.created', binding: { strength: 'required', valueSet } })
    const resource = { resourceType: 'Basic', meta: { profile: ['http://codes.test/p'] }, code: { text: 'x' }, created: '2020-01-01' }
    expect(await findingsOf(resource, [profile], /^code-/)).toEqual([])
  })
})

test.each<readonly [coding: JsonObject, said: readonly string[]]>([
  [{ system: 'http://codes.test/cs', display: 'x' }, ['warning coding-code-missing Basic.code.coding[0].code']],
  [{ display: 'x' }, ['warning coding-system-missing Basic.code.coding[0]']],
])('a coding without a code: %j', async (coding, said) => {
  expect(await findingsOf(basic(coding), [codeSystem({})], /^coding-/)).toEqual(said)
})

test('a coding alone that names a system only, for which R4 has no rule', async () => {
  const pattern = { path: 'Basic.code.coding', patternCoding: { system: 'http://codes.test/cs' } }
  expect(await findingsOf(basicProfile(pattern), [codeSystem({})], /^coding-/)).toEqual([])
  expect(await findingsOf(encounter({ system: 'http://codes.test/cs' }), [codeSystem({})], /^coding-/)).toEqual([])
})

test('a value set that takes active codes only does not take inactive ones, listed or not: STATUS_CODE_WARNING_CODE', async () => {
  const said = (include: JsonObject, strength: string, resource: JsonObject, inactive = false): Promise<readonly string[]> => {
    const valueSet = {
      resourceType: 'ValueSet',
      url: 'http://codes.test/v',
      name: 'V',
      status: 'active',
      compose: { inactive, include: [include] },
    }
    const profile = basicProfile({ path: 'Basic.code', binding: { strength, valueSet: 'http://codes.test/v' } })
    const claiming = { ...resource, meta: { profile: ['http://codes.test/p'] } }
    return issuesOf(claiming, [codeSystem({}), valueSet, profile], /^(?:value-set|concept-|code-)/)
  }
  const all = { system: 'http://codes.test/cs' }
  const listing = { ...all, concept: [{ code: 'a' }] }
  const inactive = 'warning|business-rule concept-inactive Basic.code.coding[0]'
  const barred = 'error|business-rule concept-inactive Basic.code.coding[0].code'
  const out = (severity: string): string => `${severity}|code-invalid code-not-in-value-set Basic.code`
  const expectSorted = async (found: Promise<readonly string[]>, ...expected: readonly string[]): Promise<void> =>
    expect((await found).toSorted()).toEqual(expected.toSorted())
  await expectSorted(said(all, 'required', basic(known('old'))), inactive, barred, out('error'))
  await expectSorted(said(all, 'preferred', basic(known('old'))), inactive, barred, out('information'))
  await expectSorted(said(listing, 'extensible', basic(known('old'))), inactive, barred, out('warning'))
  await expectSorted(said(all, 'required', basic(known('a'))))
  await expectSorted(said(all, 'required', basic(known('old')), true), inactive)
})

test('what a value set imports or requires and is not known is named: Unable_to_resolve_value_Set_, VALUESET_SUPPLEMENT_MISSING', async () => {
  const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet: 'http://codes.test/v' } })
  const said = (members: JsonObject, code: string, ...rest: readonly JsonObject[]): Promise<readonly string[]> => {
    const valueSet = { resourceType: 'ValueSet', url: 'http://codes.test/v', name: 'V', status: 'active', ...members }
    const claiming = { ...basic(known(code)), meta: { profile: ['http://codes.test/p'] } }
    return issuesOf(claiming, [codeSystem({}), valueSet, profile, ...rest], /^(?:value-set|code-)/)
  }
  const listing = { system: 'http://codes.test/cs', concept: [{ code: 'a' }] }
  const importing = { compose: { include: [listing, { valueSet: ['http://codes.test/nowhere'] }] } }
  const supplement = { url: 'http://hl7.org/fhir/StructureDefinition/valueset-supplement', valueCanonical: 'http://codes.test/more' }
  const requiring = { extension: [supplement], compose: { include: [listing] } }
  const unknown = 'warning|not-found value-set-unknown Basic.code'
  expect(await said(importing, 'a')).toEqual([])
  expect(await said(importing, 'old')).toEqual([unknown])
  const imported = {
    resourceType: 'ValueSet',
    url: 'http://codes.test/nowhere',
    name: 'N',
    status: 'active',
    compose: { include: [listing] },
  }
  expect(await said(importing, 'old', imported)).toEqual(['error|code-invalid code-not-in-value-set Basic.code'])
  expect(await said(requiring, 'a')).toEqual([unknown])
  const more = codeSystem({
    url: 'http://codes.test/more',
    content: 'supplement',
    supplements: 'http://codes.test/cs',
    concept: [{ code: 'a' }],
  })
  expect(await said(requiring, 'a', more)).toEqual([])
  expect(await said(requiring, 'a', codeSystem({ url: 'http://codes.test/more' }))).toEqual([unknown])
})

test('what a supplement adds decides about codes and displays where a value set, or one that it imports, requires it', async () => {
  const said = (url: string, coding: JsonObject): Promise<readonly string[]> => {
    const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet: url } })
    const claiming = { ...basic(coding), language: 'nl', meta: { profile: ['http://codes.test/p'] } }
    const concept = [{ code: 'a', display: 'Red' }, { code: 'b' }]
    return findingsOf(claiming, [codeSystem({ concept }), more, red, importing, profile], /^(?:value-set|code-|display)/)
  }
  const more = codeSystem({
    url: 'http://codes.test/more',
    content: 'supplement',
    supplements: 'http://codes.test/cs',
    concept: [
      {
        code: 'a',
        property: [{ code: 'colour', valueCode: 'red' }],
        designation: [
          { language: 'nl', value: 'Rood' },
          { language: 'fr', value: 'Rouge' },
        ],
      },
    ],
  })
  const red = {
    resourceType: 'ValueSet',
    url: 'http://codes.test/red',
    status: 'active',
    extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/valueset-supplement', valueCanonical: 'http://codes.test/more' }],
    compose: { include: [{ system: 'http://codes.test/cs', filter: [{ property: 'colour', op: '=', value: 'red' }] }] },
  }
  const importing = {
    resourceType: 'ValueSet',
    url: 'http://codes.test/importing',
    status: 'active',
    compose: { include: [{ valueSet: [red.url] }] },
  }
  for (const url of [red.url, importing.url]) {
    expect(await said(url, known('a'))).toEqual([])
    expect(await said(url, known('b'))).toEqual(['error code-not-in-value-set Basic.code'])
    expect(await said(url, { ...known('a'), display: 'Rood' })).toEqual([])
    expect(await said(url, { ...known('a'), display: 'Rouge' })).toEqual(['error display-wrong Basic.code.coding[0].display'])
  }
})

test('a value set that imports itself, at once or by others, is wrong where codes are bound to it: VALUESET_CIRCULAR_REFERENCE', async () => {
  const importing = (name: string, ...parts: readonly JsonObject[]): JsonObject => ({
    resourceType: 'ValueSet',
    url: `http://codes.test/${name}`,
    name,
    status: 'active',
    compose: { include: [{ system: 'http://codes.test/cs' }, ...parts] },
  })
  const imports = (name: string): JsonObject => ({ valueSet: [`http://codes.test/${name}`] })
  const said = (valueSet: string, resource: JsonObject, ...rest: readonly JsonObject[]): Promise<readonly string[]> => {
    const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'preferred', valueSet: `http://codes.test/${valueSet}` } })
    const claiming = { ...resource, meta: { profile: ['http://codes.test/p'] } }
    return issuesOf(claiming, [codeSystem({}), profile, ...rest], /^(?:value-set|code-)/)
  }
  const wrong = ['error|processing value-set-circular Basic.code']
  const self = importing('self', imports('self'))
  const ring = [importing('one', imports('two')), importing('two', imports('one'))]
  expect(await said('self', basic(known('a')), self)).toEqual(wrong)
  expect(await said('one', basic(known('a')), ...ring)).toEqual(wrong)
  expect(await said('outer', basic(known('a')), importing('outer', imports('self')), self)).toEqual(wrong)
  expect(await said('one', { resourceType: 'Basic', code: { text: 'x' } }, ...ring)).toEqual([])
  expect(await findingsOf(self, [self], /^value-set-import/)).toEqual(['warning value-set-import ValueSet.compose.include[1].valueSet[0]'])
})

test('a value set of which a part cannot be used says why, where that matters', async () => {
  const listing = { system: 'http://codes.test/cs', concept: [{ code: 'a' }] }
  const filter = (...filters: readonly JsonObject[]): JsonObject => ({ system: 'http://codes.test/cs', filter: filters })
  const said = (code: string, ...include: readonly JsonObject[]): Promise<readonly string[]> => {
    const valueSet = { resourceType: 'ValueSet', url: 'http://codes.test/vs', status: 'active', compose: { include } }
    const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet: 'http://codes.test/vs' } })
    const resource = { ...basic(known(code)), meta: { profile: ['http://codes.test/p'] } }
    return issuesOf(resource, [codeSystem({}), valueSet, profile], /^(?:value-set|code-)/)
  }
  const unusable = ['warning|processing value-set-unusable Basic.code']
  const odd = filter({ property: 'nothing', op: '=', value: 'x' })
  expect(await said('a', odd)).toEqual(unusable)
  expect(await said('a', filter({ property: 'code', op: 'regex', value: '[' }))).toEqual(unusable)
  expect(await said('a', filter({ property: 'concept', op: 'is-a' }))).toEqual(unusable)
  expect(await said('a', listing, odd)).toEqual([])
})

test.each([
  ['required', 'warning'],
  ['preferred', 'warning'],
  ['example', 'warning'],
])('the value set of a binding of a profile is known: %s', async (strength, severity) => {
  const profile = basicProfile({ path: 'Basic.code', binding: { strength, valueSet: 'http://codes.test/nowhere' } })
  const said = (code: JsonObject): Promise<readonly string[]> =>
    issuesOf({ resourceType: 'Basic', meta: { profile: ['http://codes.test/p'] }, code }, [codeSystem({}), profile], /^value-set/)
  const unknown = [`${severity}|code-invalid value-set-unknown Basic.code`]
  expect(await said({ coding: [{ system: 'http://codes.test/cs', code: 'a' }] })).toEqual(unknown)
  expect(await said({ text: 'x' })).toEqual(unknown)
})

test('a code outside of the examples of a profile is fine', async () => {
  const valueSet = {
    resourceType: 'ValueSet',
    url: 'http://codes.test/vs',
    status: 'active',
    compose: { include: [{ system: 'http://a.org/other' }] },
  }
  const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'example', valueSet: 'http://codes.test/vs' } })
  const resource = { ...basic(known('a')), meta: { profile: ['http://codes.test/p'] } }
  expect(await issuesOf(resource, [codeSystem({}), valueSet, profile], /^(?:value-set|code-)/)).toEqual([])
})

test('a profile that binds to a code system is wrong', async () => {
  const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet: 'http://codes.test/cs' } })
  const resource = { ...basic(known('a')), meta: { profile: ['http://codes.test/p'] } }
  expect(await findingsOf(resource, [codeSystem({}), profile], /^value-set/)).toEqual(['error value-set-unknown Basic.code'])
})

test.each<readonly [unit: JsonObject, said: readonly string[]]>([
  [{ system: 'http://codes.test/cs', code: 'a' }, []],
  [{ system: 'http://codes.test/cs', code: 'zz' }, ['warning code-unknown Basic.extension[0].value.ofType(Quantity).code']],
  [{ system: 'http://a.org/nowhere', code: 'zz' }, []],
])('a quantity with the unit %j of another system than UCUM', async (unit, said) => {
  const extension = [{ url: 'http://example.org/quantity', valueQuantity: { value: 1, ...unit } }]
  expect(await findingsOf({ resourceType: 'Basic', code: { text: 'x' }, extension }, [codeSystem({})], /^code-unknown$/)).toEqual(said)
})

const OUT_OF_USE = {
  concept: [
    { code: 'a' },
    { code: 'old', property: [{ code: 'inactive', valueBoolean: true }] },
    { code: 'dep', property: [{ code: 'status', valueCode: 'deprecated' }] },
    {
      code: 'gone',
      extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status', valueCode: 'withdrawn' }],
    },
  ],
}

test.each(['old', 'dep', 'gone'])(
  "the code '%s', which should not be used, is noted as that of a concept, of a unit and alone: INACTIVE_CONCEPT_FOUND",
  async (code) => {
    const system = 'http://codes.test/cs'
    const valueSet = { resourceType: 'ValueSet', url: 'http://codes.test/vs', status: 'active', compose: { include: [{ system }] } }
    const element = {
      path: 'Basic.extension.value[x]',
      type: [{ code: 'code' }, { code: 'Quantity' }],
      binding: { strength: 'required', valueSet: valueSet.url },
    }
    const said = (resource: JsonObject): Promise<readonly string[]> =>
      findingsOf(
        { resourceType: 'Basic', code: { text: 'x' }, ...resource },
        [codeSystem(OUT_OF_USE), valueSet, basicProfile(element)],
        /^concept-/,
      )
    const value = (extension: JsonObject): JsonObject => ({ extension: [{ url: 'http://example.org/value', ...extension }] })
    const meta = { profile: ['http://codes.test/p'] }
    expect(await said({ code: { coding: [{ system, code }] } })).toEqual(['warning concept-inactive Basic.code.coding[0]'])
    expect(await said(value({ valueQuantity: { system, code } }))).toEqual([
      'warning concept-inactive Basic.extension[0].value.ofType(Quantity)',
    ])
    expect(await said({ meta, ...value({ valueCode: code }) })).toEqual(['warning concept-inactive Basic.extension[0].value.ofType(code)'])
    expect(await said({ meta, ...value({ valueCode: 'a' }) })).toEqual([])
  },
)

test('a unit that a profile binds is one of its code system', async () => {
  const element = {
    path: 'Basic.extension.value[x]',
    type: [{ code: 'Quantity' }],
    binding: { strength: 'extensible', valueSet: 'http://codes.test/vs' },
  }
  const valueSet = {
    resourceType: 'ValueSet',
    url: 'http://codes.test/vs',
    status: 'active',
    compose: { include: [{ system: 'http://codes.test/cs' }] },
  }
  const extension = [{ url: 'http://example.org/quantity', valueQuantity: { value: 1, system: 'http://codes.test/cs', code: 'zz' } }]
  const resource = { resourceType: 'Basic', meta: { profile: ['http://codes.test/p'] }, code: { text: 'x' }, extension }
  expect(await findingsOf(resource, [codeSystem({}), valueSet, basicProfile(element)], /^code-unknown$/)).toEqual([
    'error code-unknown Basic.extension[0].value.ofType(Quantity).code',
  ])
})

describe('a value set that names a version of a code system', () => {
  const valueSet = (version: string): JsonObject => ({
    resourceType: 'ValueSet',
    url: 'http://codes.test/vs',
    status: 'active',
    compose: { include: [{ system: 'http://codes.test/cs', version }] },
  })
  const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet: 'http://codes.test/vs' } })
  const claims = (members: JsonObject): JsonObject => ({ resourceType: 'Basic', meta: { profile: ['http://codes.test/p'] }, ...members })
  const said = (resource: JsonObject, version: string): Promise<readonly string[]> =>
    findingsOf(resource, [profile, valueSet(version), codeSystem({})], /^code-/)

  test('that is not known says so of its codes', async () => {
    expect(await said(claims({ code: { coding: [known('a')] } }), '2')).toEqual(['warning code-system-version Basic.code.coding[0].system'])
  })

  test('that is not known has no codes of another version: VALUESET_VALUE_MISMATCH', async () => {
    expect(await said(claims({ code: { coding: [{ ...known('a'), version: '1' }] } }), '2')).toEqual([
      'error code-version-mismatch Basic.code.coding[0].version',
      'warning code-system-version Basic.code.coding[0].system',
      'error code-not-in-value-set Basic.code',
    ])
  })

  test('that is not known may have them from a value set that is not known, too', async () => {
    const open = {
      ...valueSet('2'),
      compose: { include: [{ system: 'http://codes.test/cs', version: '2' }, { valueSet: ['http://codes.test/none'] }] },
    }
    const resource = claims({ code: { coding: [{ ...known('a'), version: '1' }] } })
    expect(await findingsOf(resource, [profile, open, codeSystem({})], /^code-(version|not)/)).toEqual([])
  })

  test.each([
    [undefined, []],
    ['2', ['warning code-system-version Basic.code.coding[0].system']],
    ['1', ['error code-version-mismatch Basic.code.coding[0].version', 'error code-not-in-value-set Basic.code']],
  ])('that is not known and lists its codes has them in that version only: %s: VALUESET_VALUE_MISMATCH', async (version, expected) => {
    const list = { ...valueSet('2'), compose: { include: [{ system: 'http://codes.test/cs', version: '2', concept: [{ code: 'a' }] }] } }
    const coding = { ...known('a'), ...(version !== undefined && { version }) }
    expect(await findingsOf(claims({ code: { coding: [coding] } }), [profile, list, codeSystem({})], /^code-/)).toEqual(expected)
  })

  test('that is known checks them', async () => {
    expect(await said(claims({ code: { coding: [known('a')] } }), '1')).toEqual([])
    expect(await said(claims({ code: { coding: [{ system: 'http://elsewhere.test', code: 'a' }] } }), '2')).toEqual([
      'error code-not-in-value-set Basic.code',
      'warning code-system-unknown Basic.code.coding[0].system',
    ])
  })
})

describe('a code without system', () => {
  const listed = { system: 'http://codes.test/cs', concept: [{ code: 'a' }] }
  const valueSet = (include: JsonObject): JsonObject => ({
    resourceType: 'ValueSet',
    url: 'http://codes.test/bare',
    status: 'active',
    compose: { include: [include] },
  })
  const NOT_IN = 'error code-not-in-value-set Basic.code'

  test('that one of two lists has', async () => {
    const lists = { ...valueSet(listed), compose: { include: [listed, { ...listed, concept: [{ code: 'old' }] }] } }
    const element = { path: 'Basic.code', binding: { strength: 'required', valueSet: 'http://codes.test/bare' } }
    const resource = { ...basic({ code: 'a' }), meta: { profile: ['http://codes.test/p'] } }
    expect(await findingsOf(resource, [lists, basicProfile(element), codeSystem({})], /^code-not-in-value-set$/)).toEqual([NOT_IN])
  })

  test.each<readonly [what: string, code: string, include: JsonObject, said: readonly string[]]>([
    ['that the value set lists', 'a', listed, []],
    ['that the value set does not list', 'b', listed, [NOT_IN]],
    ['of a whole code system', 'a', { system: 'http://codes.test/cs' }, [NOT_IN]],
    ['that a value set lists of a code system which has no such code', 'z', { ...listed, concept: [{ code: 'z' }] }, [NOT_IN]],
  ])('%s', async (_, code, include, said) => {
    const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet: 'http://codes.test/bare' } })
    const resource = { ...basic({ code }), meta: { profile: ['http://codes.test/p'] } }
    expect(await findingsOf(resource, [codeSystem({}), valueSet(include), profile], /^code-not/)).toEqual(said)
  })

  test.each([
    ['a', []],
    ['b', [NOT_IN]],
  ])('%s, where an imported value set lists a of a code system that is not known', async (code, said) => {
    const profile = basicProfile({ path: 'Basic.code', binding: { strength: 'required', valueSet: 'http://codes.test/bare' } })
    const imported = { ...valueSet({ ...listed, system: 'http://elsewhere.test' }), url: 'http://codes.test/imported' }
    const resource = { ...basic({ code }), meta: { profile: ['http://codes.test/p'] } }
    expect(await findingsOf(resource, [imported, valueSet({ valueSet: [imported.url] }), profile], /^code-not/)).toEqual(said)
  })
})

test('text alone is said of each binding that asks for a code, also of a weaker one of the base', async () => {
  const url = 'http://codes.test/married'
  const profile = profileOn('Patient', 'http://codes.test/p', [
    { path: 'Patient.maritalStatus', binding: { strength: 'required', valueSet: url } },
  ])
  const include = [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', concept: [{ code: 'M' }] }]
  const valueSet = { resourceType: 'ValueSet', url, status: 'active', compose: { include } }
  const patient = { resourceType: 'Patient', meta: { profile: ['http://codes.test/p'] }, maritalStatus: { text: 'x' } }
  expect(await findingsOf(patient, [valueSet, profile], /^code-not/)).toEqual([
    'warning code-not-in-value-set Patient.maritalStatus',
    'error code-not-in-value-set Patient.maritalStatus',
  ])
})

// Terminology_TX_System_Invalid, TERMINOLOGY_TX_SYSTEM_HTTPS, Terminology_TX_System_Relative
test.each<readonly [system: string, said: readonly string[]]>([
  ['http://unitsofmeasure.org', []],
  ['http://codes.test/cs', []],
  ['http://unitsofmeasure.org/', ['error|code-invalid code-system-unknown']],
  ['unitsofmeasure.org', ['error|code-invalid coding-system-form']],
  ['http://a.org/units', ['information|unknown code-system-unknown']],
])('the system of a unit: %s', async (system, said) => {
  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, valueQuantity: { value: 1, system, code: 'a' } }
  const found = await issuesOf(observation, [codeSystem({})], /system/)
  expect(found.map((one) => one.split(' ', 2).join(' '))).toEqual(expect.arrayContaining([...said]))
  expect(found.length > 0).toBe(said.length > 0)
})

// Unable_to_resolve_system__value_set_has_no_includes_or_expansion, Unable_to_resolve_system__value_set_has_include_with_no_system
test.each<readonly [what: string, valueSet: JsonObject, isWrong: boolean]>([
  ['neither includes nor expansion', {}, true],
  ['no includes', { compose: {} }, true],
  ['an include without system', { compose: { include: [{}] } }, true],
  ['an expansion without codes', { expansion: { timestamp: '2020' } }, true],
  ['the code', { compose: { include: [{ system: 'http://hl7.org/fhir/administrative-gender' }] } }, false],
  ['another value set', { compose: { include: [{ valueSet: ['http://hl7.org/fhir/ValueSet/administrative-gender'] }] } }, false],
])('a code bound to a value set that has %s', async (_, members, isWrong) => {
  const valueSet = { resourceType: 'ValueSet', url: 'http://codes.test/empty', status: 'active', ...members }
  const profile = profileOn('Patient', 'http://codes.test/p', [
    { path: 'Patient.gender', binding: { strength: 'required', valueSet: 'http://codes.test/empty' } },
  ])
  const patient = { resourceType: 'Patient', meta: { profile: ['http://codes.test/p'] }, gender: 'male' }
  const said = ['error|code-invalid code-not-in-value-set Patient.gender', 'error|not-found code-system-not-inferred Patient.gender']
  expect(await issuesOf(patient, [valueSet, profile], /^code-|^value-set/)).toEqual(isWrong ? said : [])
})
