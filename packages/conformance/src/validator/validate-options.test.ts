import { describe, expect, test } from 'vitest'
import { createContext, forRequest, type OperationContext, type ValidationPolicy } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { objectsAt, type JsonObject } from 'fhir-ops/internal/json'
import { parametersFromQuery } from 'fhir-ops/internal/parameters'
import { memoryStorage } from 'fhir-ops/memory'
import { putResource } from 'fhir-ops/storage'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { profileOn } from './rules/profile-on.js'
import { validateOperation } from 'fhir-ops/internal/operations'

const NAMED = profileOn('Patient', 'http://oracle.test/StructureDefinition/named', [{ id: 'Patient.name', path: 'Patient.name', min: 1 }])
const OF_NAMED = profileOn('Observation', 'http://oracle.test/StructureDefinition/of-named', [
  {
    id: 'Observation.subject',
    path: 'Observation.subject',
    type: [{ code: 'Reference', targetProfile: ['http://oracle.test/StructureDefinition/named'] }],
  },
])
const FORM = 'http://oracle.test/Questionnaire/unknown'

const storage = memoryStorage()
const ctx = createContext({ storage, ...r4() })
function put(resource: { resourceType: string; id: string } & JsonObject): Promise<unknown> {
  const { resourceType: type, id } = resource
  return storage.write([putResource({ type, id, source: resource }, () => [])])
}

const stored = Promise.all([
  put({ resourceType: 'Patient', id: 'with-name', name: [{ family: 'X' }] }),
  put({ resourceType: 'Patient', id: 'without' }),
])

function observation(reference: string, more: JsonObject = {}): JsonObject {
  return { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: { reference }, ...more }
}

/** What is said about a resource: severity, kind and place. */
async function said(resource: JsonObject | string, options: ValidationPolicy, own: OperationContext = ctx): Promise<readonly string[]> {
  await stored
  const input = { resource: typeof resource === 'string' ? resource : JSON.stringify(resource), ...options }
  const profiles = resource instanceof Object && resource['resourceType'] === 'Observation' ? [String(OF_NAMED['url'])] : []
  const { findings } = await validate(forRequest(own, { resources: [NAMED, OF_NAMED] }), { ...input, profiles })
  return findings.map(({ severity, kind, expression }) => `${severity} ${kind} ${String(expression)}`)
}

const WRONG = ['error reference Observation.subject']

describe('references to stored resources', () => {
  test.each<readonly [string, ValidationPolicy['validateReferences'], readonly string[]]>([
    ['Patient/nobody', 'off', []],
    ['Patient/nobody', 'exists', WRONG],
    ['Patient/nobody', 'profile', WRONG],
    ['Patient/without', 'exists', []],
    ['Patient/without', 'profile', WRONG],
    ['Patient/with-name', 'profile', []],
    ['Patient/with-name/_history/1', 'profile', []],
    ['https://elsewhere.test/fhir/Patient/nobody', 'profile', []],
    ['urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0', 'exists', []],
  ])('%s is looked up with %s', async (reference, validateReferences, expected) => {
    expect(await said(observation(reference), { validateReferences })).toEqual(expected)
  })

  test('are looked up wherever they stand', async () => {
    const bundle = {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [{ fullUrl: 'https://a.test/Observation/1', resource: { ...observation('Patient/nobody'), id: '1' } }],
    }
    expect(await said(bundle, { validateReferences: 'exists' })).toContain('error reference Bundle.entry[0].resource.subject')
  })

  test('that are stored but may not be read are as if they were not there', async () => {
    const authorize = (_: string, type: string): void => {
      if (type === 'Patient') throw new OperationError('forbidden', 'no')
    }
    expect(await said(observation('Patient/with-name'), { validateReferences: 'exists' }, { ...ctx, authorize })).toEqual(WRONG)
  })

  test('go no further than one step, so that circles and long chains end', async () => {
    await put({
      resourceType: 'Patient',
      id: 'circle',
      name: [{ family: 'X' }],
      link: [{ other: { reference: 'Patient/circle' }, type: 'seealso' }],
      generalPractitioner: [{ reference: 'Practitioner/nobody' }],
    })
    expect(await said(observation('Patient/circle'), { validateReferences: 'profile' })).toEqual([])
  })
})

describe('other options', () => {
  test('assumeValidRestReferences takes the type from absolute URLs', async () => {
    const reference = 'https://elsewhere.test/fhir/Medication/1'
    expect(await said(observation(reference), {})).toEqual([])
    expect(await said(observation(reference), { assumeValidRestReferences: true })).toEqual(WRONG)
    expect(await said(observation('https://elsewhere.test/fhir/Patient/1'), { assumeValidRestReferences: true })).toEqual([])
  })

  test('allowComments lets JSON have comments, and nothing else that JSON has not', async () => {
    const text = '{ // a patient\n"resourceType": "Patient", /* name */ "active": true }'
    expect(await said(text, {})).toEqual(['error json-comment Patient', 'error json-comment Patient.active'])
    expect(await said(text, { allowComments: true })).toEqual([])
    expect(await said(text.replace('true', 'true,'), { allowComments: true })).toEqual(['error json-comma Patient'])
  })

  test.each<readonly [ValidationPolicy['questionnaire'], readonly string[]]>([
    ['off', []],
    ['check', ['warning questionnaire-unknown QuestionnaireResponse']],
    ['required', ['error questionnaire-unknown QuestionnaireResponse']],
  ])('questionnaire %s decides about questionnaires that are not known', async (questionnaire, expected) => {
    expect(await said({ resourceType: 'QuestionnaireResponse', status: 'completed', questionnaire: FORM }, { questionnaire })).toEqual(
      expected,
    )
  })

  test('extensibleBindingWarnings false leaves out what is only outside of an extensible value set', async () => {
    const resource = {
      resourceType: 'Patient',
      maritalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' }] },
    }
    expect(await said(resource, {})).toEqual(['warning code-not-in-value-set Patient.maritalStatus'])
    expect(await said(resource, { extensibleBindingWarnings: false })).toEqual([])
    const required = { resourceType: 'Patient', gender: 'none' }
    expect(await said(required, { extensibleBindingWarnings: false })).toContain('error code-not-in-value-set Patient.gender')
  })

  test.each<NonNullable<ValidationPolicy['wrongDisplays']>>(['error', 'warning'])(
    'wrongDisplays %s is the severity of a wrong display',
    async (wrongDisplays) => {
      const maritalStatus = (display: string): object => ({
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M', display }],
      })
      const wrong = { resourceType: 'Patient', maritalStatus: maritalStatus('Single') }
      expect(await said(wrong, { wrongDisplays })).toEqual([`${wrongDisplays} display-wrong Patient.maritalStatus.coding[0].display`])
      expect(await said({ ...wrong, language: 'xx' }, { wrongDisplays })).toEqual(
        expect.arrayContaining([`${wrongDisplays} display-wrong Patient.maritalStatus.coding[0].display`]),
      )
      expect(await said({ resourceType: 'Patient', maritalStatus: maritalStatus('Married') }, { wrongDisplays })).toEqual([])
    },
  )

  test('enforceAggregationOutsideBundles false leaves targets outside of Bundles where they are', async () => {
    const bundled = profileOn('Observation', String(OF_NAMED['url']), [
      { id: 'Observation.subject', path: 'Observation.subject', type: [{ code: 'Reference', aggregation: ['bundled'] }] },
    ])
    const own = forRequest(ctx, { resources: [bundled] })
    const places = async (options: ValidationPolicy): Promise<readonly unknown[]> => {
      const { findings } = await validate(own, {
        resource: JSON.stringify(observation('Patient/1')),
        profiles: [String(OF_NAMED['url'])],
        ...options,
      })
      return findings.map(({ severity, expression }) => `${severity} ${String(expression)}`)
    }
    expect(await places({})).toEqual(['error Observation.subject'])
    expect(await places({ enforceAggregationOutsideBundles: false })).toEqual([])
  })

  test('validateReferences finds what another parameter brings', async () => {
    const parameters = {
      resourceType: 'Parameters',
      parameter: [
        { name: 'a', resource: { resourceType: 'Patient', id: 'beside' } },
        { name: 'b', resource: observation('Patient/beside') },
        { name: 'c', resource: observation('Patient/nobody') },
      ],
    }
    expect(await said(parameters, { validateReferences: 'exists' })).toEqual(['error reference Parameters.parameter[2].resource.subject'])
  })

  test('validateContained false leaves contained resources alone', async () => {
    const resource = {
      resourceType: 'Patient',
      managingOrganization: { reference: '#o' },
      contained: [{ resourceType: 'Organization', id: 'o', nothing: 1 }],
    }
    expect(await said(resource, {})).toContain('error unknown-property Patient.contained[0].nothing')
    expect(await said(resource, { validateContained: false })).toEqual([])
  })

  test("vitalSigns 'code' demands the profile of a vital sign of Observations in no category, too", async () => {
    const weight = observation('Patient/1', { code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }] } })
    const demanded = (vitalSigns?: 'category' | 'code'): Promise<readonly string[]> => said(weight, { level: 'error', vitalSigns })
    expect(await demanded()).toEqual([])
    expect(await demanded('category')).toEqual([])
    expect(await demanded('code')).toContain('error too-few Observation')
    expect(await said({ ...weight, status: 'entered-in-error' }, { level: 'error', vitalSigns: 'code' })).toEqual([])
  })

  test('rules set the severity of a kind of findings', async () => {
    const note = observation('Patient/1', { note: [{ text: 'a <b>bold</b> word' }] })
    expect(await said(note, {})).toEqual(['warning markdown-html Observation.note[0].text'])
    expect(await said(note, { rules: { 'markdown-html': 'off' } })).toEqual([])
  })

  test('extensionDomains are those whose extensions need no definition', async () => {
    const resource = {
      resourceType: 'Patient',
      extension: [
        { url: 'https://a.test/x', valueString: 'x' },
        { url: 'https://b.test/x', valueString: 'x' },
      ],
    }
    expect(await said(resource, { extensionDomains: ['https://a.test/'] })).toEqual(['error extension-unknown Patient.extension[1]'])
  })

  test.each<readonly [ValidationPolicy['resourceId'], JsonObject, readonly string[]]>([
    ['optional', {}, []],
    ['required', {}, ['error resource-id Patient']],
    ['required', { id: 'x' }, []],
    ['prohibited', {}, []],
    ['prohibited', { id: 'x' }, ['error resource-id Patient']],
    ['prohibited', { _id: { id: 'a' } }, ['error resource-id Patient', 'error id-extension Patient.id', 'error empty-object Patient.id']],
    [
      'required',
      { id: 'x', contained: [{ resourceType: 'Patient', id: 'y' }], link: [{ other: { reference: '#y' }, type: 'seealso' }] },
      [],
    ],
  ])('resourceId %s is about the resource itself, here %j', async (resourceId, more, expected) => {
    expect(await said({ resourceType: 'Patient', active: true, ...more }, { resourceId, level: 'error' })).toEqual(expected)
  })

  test('a profile that is asked for 50,000 times is applied once', async () => {
    const profiles = Array.from({ length: 50_000 }, () => String(NAMED['url']))
    const own = forRequest(ctx, { resources: [NAMED] })
    const { findings } = await validate(own, { resource: { resourceType: 'Patient', active: true }, profiles, level: 'error' })
    expect(findings.map(({ kind }) => kind)).toEqual(['too-few'])
  })

  test('resourceId is not about the resources of entries', async () => {
    const bundle = {
      resourceType: 'Bundle',
      id: 'x',
      type: 'collection',
      entry: [{ fullUrl: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0', resource: { resourceType: 'Patient', active: true } }],
    }
    expect(await said(bundle, { resourceId: 'required' })).toEqual([])
    expect(await said(bundle, { resourceId: 'prohibited' })).toEqual(['error resource-id Bundle'])
  })

  test('resourceId does not decide whether a resource conforms to a profile', async () => {
    const url = 'http://oracle.test/StructureDefinition/conforming'
    const expression = "conformsTo('http://hl7.org/fhir/StructureDefinition/Patient')"
    const constraint = [{ key: 'c-1', severity: 'error', human: 'x', expression }]
    const own = forRequest(ctx, { resources: [profileOn('Patient', url, [{ id: 'Patient', path: 'Patient', constraint }])] })
    const resource = { resourceType: 'Patient', active: true }
    const { findings } = await validate(own, { resource, profiles: [url], resourceId: 'required', level: 'error' })
    expect(findings.map(({ kind }) => kind)).toEqual(['resource-id'])
  })

  test('of the context hold for every call, which may set others', async () => {
    const strict = createContext({ storage, ...r4(), validation: { questionnaire: 'required', extensionDomains: ['https://a.test/'] } })
    const response = {
      resourceType: 'QuestionnaireResponse',
      status: 'completed',
      questionnaire: FORM,
      extension: [{ url: 'https://a.test/x', valueString: 'x' }],
    }
    expect(await said(response, {}, strict)).toEqual(['error questionnaire-unknown QuestionnaireResponse'])
    expect(await said(response, { questionnaire: 'off' }, strict)).toEqual([])
  })
})

describe('profiles for entries of Bundles', () => {
  const WITH_SUBJECT = profileOn('Observation', 'http://oracle.test/StructureDefinition/with-subject', [
    { id: 'Observation.subject', path: 'Observation.subject', min: 1 },
  ])
  const WITH_METHOD = profileOn('Observation', 'http://oracle.test/StructureDefinition/with-method', [
    { id: 'Observation.method', path: 'Observation.method', min: 1 },
  ])
  const WITH_IDENTIFIER = profileOn('Bundle', 'http://oracle.test/StructureDefinition/with-identifier', [
    { id: 'Bundle.identifier', path: 'Bundle.identifier', min: 1 },
  ])
  const own = forRequest(ctx, { resources: [NAMED, WITH_SUBJECT, WITH_IDENTIFIER] })
  const entry = (resource: JsonObject): JsonObject => ({
    fullUrl: `http://a.test/${String(resource['resourceType'])}/${String(resource['id'])}`,
    resource,
  })
  const bundleOf = (...resources: readonly JsonObject[]): JsonObject => ({
    resourceType: 'Bundle',
    id: 'b',
    type: 'collection',
    entry: resources.map(entry),
  })
  const OF_THREE = bundleOf(
    { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' } },
    { resourceType: 'Patient', id: '1', name: [{ text: 'x' }] },
    { resourceType: 'Patient', id: '2' },
  )
  const found = async (
    resource: JsonObject,
    ...bundle: readonly (readonly [rule: string, profile: string])[]
  ): Promise<readonly string[]> => {
    const rules = bundle.map(([rule, name]) => ({ rule, profile: `http://oracle.test/StructureDefinition/${name}` }))
    const { findings } = await validate(own, { resource: JSON.stringify(resource), bundle: rules })
    return findings.map(({ severity, kind, expression }) => `${severity} ${kind} ${String(expression)}`)
  }
  const LACKING = (place: string): string => `error too-few ${place}.resource`

  test.each<readonly [rule: string, profile: string, expected: readonly string[]]>([
    ['Patient:0', 'named', []],
    ['Patient:1', 'named', [LACKING('Bundle.entry[2]')]],
    ['Patient', 'named', [LACKING('Bundle.entry[2]')]],
    ['1', 'named', []],
    ['2', 'named', [LACKING('Bundle.entry[2]')]],
    ['Observation:0', 'with-subject', [LACKING('Bundle.entry[0]')]],
    ['0', 'named', ['error profile-type Bundle.entry[0].resource']],
    ['3', 'named', ['warning bundle-rule-unused Bundle']],
    ['Patient:2', 'named', ['warning bundle-rule-unused Bundle']],
    ['Device', 'named', ['information bundle-rule-unused Bundle']],
  ])('the rule %s selects entries for the profile %s', async (rule, profile, expected) => {
    expect(await found(OF_THREE, [rule, profile])).toEqual(expected)
  })

  test('several rules select each for itself', async () => {
    expect(await found(OF_THREE, ['Patient', 'named'], ['Observation', 'with-subject'], ['2', 'named'])).toEqual([
      LACKING('Bundle.entry[0]'),
      LACKING('Bundle.entry[2]'),
    ])
  })

  test('entries without a resource count as positions', async () => {
    const bundle = {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        { request: { method: 'DELETE', url: 'Patient/9' } },
        { ...entry({ resourceType: 'Patient', id: '2' }), request: { method: 'PUT', url: 'Patient/2' } },
      ],
    }
    expect(await found(bundle, ['1', 'named'])).toEqual([LACKING('Bundle.entry[1]')])
    expect(await found(bundle, ['0', 'named'])).toEqual(['warning bundle-rule-unused Bundle'])
  })

  test('Bundles in entries and in Parameters are counted on their own', async () => {
    const outer = bundleOf({ ...bundleOf({ resourceType: 'Patient', id: '2' }), id: 'inner' })
    expect(await found(outer, ['Patient:0', 'named'])).toEqual([LACKING('Bundle.entry[0].resource.entry[0]')])
    expect(await found(outer, ['Bundle:0', 'with-identifier'])).toEqual([LACKING('Bundle.entry[0]')])
    const parameters = { resourceType: 'Parameters', parameter: [{ name: 'a', resource: OF_THREE }] }
    expect(await found(parameters, ['Patient:1', 'named'])).toEqual([LACKING('Parameters.parameter[0].resource.entry[2]')])
  })

  test('an object that stands in two entries is in each for itself', async () => {
    const patient = { resourceType: 'Patient', id: '2' }
    const resource = {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [1, 2].map((number) => ({ fullUrl: `http://a.test/${number}/Patient/2`, resource: patient })),
    }
    const by = async (...rules: readonly string[]): Promise<readonly unknown[]> => {
      const bundle = rules.map((rule) => ({ rule, profile: String(NAMED['url']) }))
      return (await validate(own, { resource, bundle })).findings.map(({ expression }) => expression)
    }
    expect(await by('0')).toEqual(['Bundle.entry[0].resource'])
    expect(await by('Patient:1')).toEqual(['Bundle.entry[1].resource'])
    expect(await by('0', '1')).toEqual(['Bundle.entry[0].resource', 'Bundle.entry[1].resource'])
  })

  test('they do not decide which slice an entry is in', async () => {
    const url = 'http://oracle.test/StructureDefinition/with-subjects'
    const resource: JsonObject = { id: 'Bundle.entry:subject.resource', path: 'Bundle.entry.resource' }
    const sliced = profileOn('Bundle', url, [
      {
        id: 'Bundle.entry',
        path: 'Bundle.entry',
        slicing: { discriminator: [{ type: 'profile', path: 'resource' }], rules: 'open' },
      },
      { id: 'Bundle.entry:subject', path: 'Bundle.entry', sliceName: 'subject', min: 1 },
      { ...resource, type: [{ code: 'Observation', profile: [String(WITH_SUBJECT['url'])] }] },
    ])
    const ofNobody = { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject: { display: 'x' } }
    const { findings } = await validate(forRequest(own, { resources: [sliced, WITH_SUBJECT, WITH_METHOD] }), {
      resource: bundleOf(ofNobody),
      profiles: [url],
      bundle: [{ rule: '0', profile: String(WITH_METHOD['url']) }],
    })
    expect(findings.map(({ severity, kind, expression }) => `${severity} ${kind} ${String(expression)}`)).toEqual([
      LACKING('Bundle.entry[0]'),
    ])
  })

  test('other resources are not concerned', async () => {
    expect(await found({ resourceType: 'Patient', id: '2' }, ['Patient:0', 'named'])).toEqual([])
  })

  test.each(['', 'Foo:0', 'patient:0', 'Resource', 'Patient:x', 'Patient:', ':1', '-1', '01', 'Patient:01', '1.5', 'Patient.name'])(
    'the rule %j selects no kind of entry and is refused',
    async (rule) => {
      await expect(found(OF_THREE, [rule, 'named'])).rejects.toThrow(rule)
    },
  )

  test('more than 100 rules are refused, since all may be for the same entry', async () => {
    const rules = (length: number): readonly (readonly [string, string])[] =>
      Array.from({ length }, (_, at) => [`Patient:${at + 10}`, 'named'])
    expect(await found(OF_THREE, ...rules(100))).toHaveLength(100)
    await expect(found(OF_THREE, ...rules(101))).rejects.toMatchObject({ code: 'too-costly', expression: ['bundle'] })
  })

  test('a profile that is not known is refused, even if it is for no entry', async () => {
    await expect(found(OF_THREE, ['Patient:7', 'nothing'])).rejects.toThrow('nothing')
    await expect(found({ resourceType: 'Patient', id: '2' }, ['Patient:7', 'nothing'])).rejects.toThrow('nothing')
  })
})

describe('mustSupport', () => {
  const url = (name: string): string => `http://oracle.test/StructureDefinition/${name}`
  const marked = (path: string, more: JsonObject = {}): JsonObject => ({ id: path, path, mustSupport: true, ...more })
  const MARKING = profileOn('Patient', url('marking'), [
    marked('Patient.identifier'),
    marked('Patient.name'),
    marked('Patient.name.family'),
    marked('Patient.telecom'),
    { id: 'Patient.gender', path: 'Patient.gender', fixedCode: 'male' },
    marked('Patient.deceased[x]'),
  ])
  const OF_ADDRESS = profileOn('Patient', url('of-address'), [marked('Patient.address')])
  const own = forRequest(ctx, { resources: [MARKING, OF_ADDRESS, NAMED] })
  const PATIENT = {
    resourceType: 'Patient',
    id: '1',
    active: true,
    identifier: [{ system: 'http://a.test', value: '1' }],
    name: [{ use: 'official', family: 'x', given: ['y', 'z'] }],
    gender: 'male',
    deceasedBoolean: false,
    address: [{ city: 'x' }],
  }
  async function hints(options: ValidationPolicy, profiles: readonly string[], resource: JsonObject = PATIENT): Promise<readonly string[]> {
    const { findings } = await validate(own, { resource: JSON.stringify(resource), profiles: profiles.map(url), ...options })
    return findings.filter(({ kind }) => kind.startsWith('must-support')).map(({ expression }) => String(expression))
  }

  test('is not looked at unless it is asked for', async () => {
    expect(await hints({}, ['marking'])).toEqual([])
    expect(await hints({ mustSupport: 'off' }, ['marking'])).toEqual([])
  })

  test('unmarked finds content that no profile marks, once for what is inside, and nothing that is fixed', async () => {
    expect(await hints({ mustSupport: 'unmarked' }, ['marking'])).toEqual([
      'Patient.active',
      'Patient.name[0].use',
      'Patient.name[0].given[0]',
      'Patient.name[0].given[1]',
      'Patient.address[0]',
    ])
  })

  test('the marks of several profiles add up, and a profile without marks says nothing', async () => {
    expect(await hints({ mustSupport: 'unmarked' }, ['marking', 'of-address', 'named'])).not.toContain('Patient.address[0]')
    expect(await hints({ mustSupport: 'unmarked' }, ['marking', 'named'])).toContain('Patient.address[0]')
    expect(await hints({ mustSupport: 'unmarked' }, ['named'])).toEqual([])
  })

  test('profiles that a resource claims count, also those of an entry', async () => {
    const claiming = { ...PATIENT, meta: { profile: [url('of-address')] } }
    expect(await hints({ mustSupport: 'unmarked' }, [], claiming)).toContain('Patient.active')
    const bundle = { resourceType: 'Bundle', type: 'collection', entry: [{ fullUrl: 'http://a.test/Patient/1', resource: PATIENT }] }
    const { findings } = await validate(own, {
      resource: bundle,
      bundle: [{ rule: 'Patient', profile: url('of-address') }],
      mustSupport: 'unmarked',
    })
    expect(findings.map(({ expression }) => expression)).toContain('Bundle.entry[0].resource.active')
  })

  test('all also lists which of the marked elements have content', async () => {
    const { findings } = await validate(own, { resource: PATIENT, profiles: [url('marking')], mustSupport: 'all' })
    expect(findings.filter(({ kind }) => kind === 'must-support-list')).toMatchObject([
      {
        severity: 'information',
        expression: 'Patient',
        profile: url('marking'),
        text: `The profile '${url('marking')}' marks 5 elements as mustSupport. With content here: Patient.identifier, Patient.name, Patient.name.family, Patient.deceased[x]. Without: Patient.telecom.`,
      },
    ])
  })

  test('finds the rest as it does without', async () => {
    const wrong = { ...PATIENT, gender: 'female', birthDate: '1980-02-30', contact: [{}], maritalStatus: { coding: [{ code: 1 }] } }
    const others = async (mustSupport: ValidationPolicy['mustSupport']): Promise<readonly unknown[]> => {
      const { findings } = await validate(own, { resource: wrong, profiles: [url('marking')], mustSupport })
      return findings.filter(({ kind }) => !kind.startsWith('must-support'))
    }
    expect(await others('all')).toEqual(await others('off'))
  })
})

describe('options in a request', () => {
  async function issuesOf(parameters: readonly (readonly [string, string])[], body: string, type = 'Patient'): Promise<readonly string[]> {
    await stored
    const { resource } = await validateOperation.run(forRequest(ctx, { resources: [NAMED, MARKING_NAME] }), {
      type,
      method: 'POST',
      parameters: parametersFromQuery(parameters),
      bodyText: body,
      strict: false,
    })
    return objectsAt(resource, 'issue').map(({ severity, expression }) => `${String(severity)} ${String(expression)}`)
  }

  const MARKING_NAME = profileOn('Patient', 'http://oracle.test/StructureDefinition/marking-name', [
    { id: 'Patient.name', path: 'Patient.name', mustSupport: true },
  ])

  test('bundle and mustSupport are parameters, in the query and in Parameters', async () => {
    const resource = {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [{ fullUrl: 'http://a.test/Patient/1', resource: { resourceType: 'Patient', id: '1', active: true } }],
    }
    const bundle = [NAMED, MARKING_NAME].map(({ url }) => `Patient:0=${String(url)}`)
    const expected = ['error Bundle.entry[0].resource', 'information Bundle.entry[0].resource.active']
    const query = [...bundle.map((rule) => ['bundle', rule] as const), ['mustSupport', 'unmarked'] as const]
    expect(await issuesOf(query, JSON.stringify(resource), 'Bundle')).toEqual(expected)
    const parameter = [
      { name: 'resource', resource },
      ...bundle.map((valueString) => ({ name: 'bundle', valueString })),
      { name: 'mustSupport', valueCode: 'unmarked' },
    ]
    expect(await issuesOf([], JSON.stringify({ resourceType: 'Parameters', parameter }), 'Bundle')).toEqual(expected)
  })

  test.each<readonly [string, string, JsonObject | string, string]>([
    [
      'validateReferences',
      'exists',
      { resourceType: 'Patient', managingOrganization: { reference: 'Organization/nobody' } },
      'error Patient.managingOrganization',
    ],
    [
      'assumeValidRestReferences',
      'true',
      { resourceType: 'Patient', managingOrganization: { reference: 'https://a.test/Patient/1' } },
      'error Patient.managingOrganization',
    ],
    ['resourceId', 'required', { resourceType: 'Patient', active: true }, 'error Patient'],
    ['rule', 'unknown-property=warning', { resourceType: 'Patient', foo: 1 }, 'warning Patient.foo'],
  ])('%s=%s is a parameter', async (name, value, body, expected) => {
    const text = JSON.stringify(body)
    expect(await issuesOf([], text)).not.toEqual([expected])
    expect(await issuesOf([[name, value]], text)).toEqual([expected])
    const parameters = {
      resourceType: 'Parameters',
      parameter: [
        { name: 'resource', resource: body },
        { name, ...(value === 'true' ? { valueBoolean: true } : { valueCode: value }) },
      ],
    }
    expect(await issuesOf([], JSON.stringify(parameters))).toEqual([expected])
  })

  test.each([
    ['validateReferences', 'valid'],
    ['questionnaire', 'yes'],
    ['vitalSigns', 'always'],
    ['allowComments', 'maybe'],
    ['validatereferences', 'exists'],
    ['resourceId', 'must'],
    ['mustSupport', 'true'],
    ['bundle', 'Patient:0'],
    ['bundle', '=http://a.test/p'],
    ['rule', 'invariant'],
    ['rule', 'invariant=loud'],
    ['rule', 'invarient=off'],
  ])('%s=%s is refused', async (name, value) => {
    await expect(issuesOf([[name, value]], '{"resourceType":"Patient"}')).rejects.toThrow(name)
  })

  test('severities for a kind that contradict each other are refused', async () => {
    const asked = (...severities: readonly string[]): Promise<unknown> =>
      issuesOf(
        severities.map((severity) => ['rule', `unknown-property=${severity}`] as const),
        '{"resourceType":"Patient","foo":1}',
      )
    await expect(asked('off', 'error')).rejects.toThrow("Parameter rule has both off and error for 'unknown-property'.")
    await expect(asked('off', 'off')).resolves.toBeDefined()
  })

  test.each<readonly [header: string, parameters: readonly (readonly [string, string])[]]>([
    ['{"best-practice":"Warning"}', [['bestPractice', 'warning']]],
    [
      '{"best-practice":"ignore","level":"errors"}',
      [
        ['bestPractice', 'off'],
        ['level', 'error'],
      ],
    ],
    [
      '{"security-checks":true,"noHtmlInMarkdown":true,"examples":"false"}',
      [
        ['refuse', 'markup'],
        ['refuse', 'markdown'],
        ['refuse', 'examples'],
      ],
    ],
    ['{"security-checks":false,"examples":true,"no-experimental-content":false,"fetcher":"x","no-tx":true,"language":"de"}', []],
    ['{"no-experimental-content":true}', [['refuse', 'experimental']]],
    ['{"for-publication":"true"}', [['forPublication', 'true']]],
    ['{"validateReference":"CHECK_VALID"}', [['validateReferences', 'profile']]],
    [
      '{"validateReference":"CHECK_EXISTS_AND_TYPE","assumeValidRestReferences":true}',
      [
        ['validateReferences', 'exists'],
        ['assumeValidRestReferences', 'true'],
      ],
    ],
    [
      '{"allow-comments":true,"questionnaire":"required"}',
      [
        ['allowComments', 'true'],
        ['questionnaire', 'required'],
      ],
    ],
    [
      '{"extensible-binding-warnings":false,"validateContains":"IGNORE"}',
      [
        ['extensibleBindingWarnings', 'false'],
        ['validateContained', 'false'],
      ],
    ],
    ['{"wrong-displays":"warning"}', [['wrongDisplays', 'warning']]],
    ['{"wrong-displays":"ERROR"}', [['wrongDisplays', 'error']]],
    [
      '{"allowed-extension-domain":["https://a.test/","https://b.test/"]}',
      [
        ['extensionDomain', 'https://a.test/'],
        ['extensionDomain', 'https://b.test/'],
      ],
    ],
    ['{"must-support":true}', [['mustSupport', 'unmarked']]],
    ['{"hintAboutNonMustSupport":"false"}', [['mustSupport', 'off']]],
    ['{"resource-id-rule":"required"}', [['resourceId', 'required']]],
    ['{"resourceIdRule":"PROHIBITED"}', [['resourceId', 'prohibited']]],
    ['{"bundle":{"rule":"Patient:0","profile":"http://a.test/p|1"}}', [['bundle', 'Patient:0=http://a.test/p|1']]],
    [
      '{"bundle":[{"rule":"0","profile":"http://a.test/p"},{"rule":"Patient","profile":"http://a.test/q?a=b"}]}',
      [
        ['bundle', '0=http://a.test/p'],
        ['bundle', 'Patient=http://a.test/q?a=b'],
      ],
    ],
    ['{"extension":"any"}', [['rule', 'extension-unknown=off']]],
    ['{"noInvariants":true,"no-invariants":true}', [['rule', 'invariant=off']]],
    ['{"htmlInMarkdown":"ignore"}', [['rule', 'markdown-html=off']]],
    ['{"html-in-markdown":"ERROR"}', [['refuse', 'markdown']]],
    ['{"unknown-codesystems-cause-errors":true}', [['rule', 'code-system-unknown=error']]],
    ['{"no_unicode_bidi_control_chars":true}', [['rule', 'string-control=error']]],
    ['{"no-extensible-binding-warnings":true}', [['extensibleBindingWarnings', 'false']]],
    ['{"display-issues-are-warnings":true}', [['wrongDisplays', 'warning']]],
    [
      '{"allowExampleUrls":false,"bestPractice":"Hint"}',
      [
        ['refuse', 'examples'],
        ['bestPractice', 'information'],
      ],
    ],
    ['{"profile":"http://a.test/p","showMessageIds":true,"tx-routing":true}', [['profile', 'http://a.test/p']]],
    ['{}', []],
  ])("header of HL7's validator %s", (header, expected) => {
    expect(validateOperation.header?.parameters(header)).toEqual(parametersFromQuery(expected))
  })

  test.each([
    ['{"best-practice":"toString"}', 'best-practice'],
    ['{"constructor":true}', 'constructor'],
    ['{"for-publication":"yes"}', 'for-publication'],
    ['{"wrong-displays":"off"}', 'wrong-displays'],
    ['{"allow-comments":1}', 'allow-comments'],
    ['{"allowed-extension-domain":[1]}', 'allowed-extension-domain'],
    ['{"must-suport":true}', "Did you mean 'must-support'?"],
    ['{"best-practise":"hint"}', "Did you mean 'best-practice'"],
    ['{"must-support":"unmarked"}', 'must-support'],
    ['{"resourceIdRule":"must"}', 'resourceIdRule'],
    ['{"bundle":"Patient:0"}', 'bundle'],
    ['{"bundle":[{"rule":"Patient:0"}]}', 'bundle'],
    ['{"bundle":[{"rule":"Patient=a","profile":"http://a.test/p"}]}', 'like Patient:0'],
    ['{"jurisdiction":"us"}', 'jurisdiction'],
    ['{"check-ips-codes":true}', 'check-ips-codes'],
    ['{"bundleValidationRule":"Patient:0"}', 'supported are best-practice, level,'],
    ['[]', 'not a JSON object'],
    ['no JSON', 'not JSON'],
  ])('header %s is refused by name', (header, name) => {
    expect(() => validateOperation.header?.parameters(header)).toThrow(name)
  })
})
