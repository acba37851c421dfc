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

describe('options in a request', () => {
  async function issuesOf(parameters: readonly (readonly [string, string])[], body: string): Promise<readonly string[]> {
    await stored
    const { resource } = await validateOperation.run(ctx, {
      type: 'Patient',
      method: 'POST',
      parameters: parametersFromQuery(parameters),
      bodyText: body,
      strict: false,
    })
    return objectsAt(resource, 'issue').map(({ severity, expression }) => `${String(severity)} ${String(expression)}`)
  }

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
  ])('%s=%s is a parameter', async (name, value, body, expected) => {
    const text = JSON.stringify(body)
    expect(await issuesOf([], text)).toEqual(['information undefined'])
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
  ])('%s=%s is refused', async (name, value) => {
    await expect(issuesOf([[name, value]], '{"resourceType":"Patient"}')).rejects.toThrow(name)
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
    ['[]', 'not a JSON object'],
    ['no JSON', 'not JSON'],
  ])('header %s is refused by name', (header, name) => {
    expect(() => validateOperation.header?.parameters(header)).toThrow(name)
  })
})
