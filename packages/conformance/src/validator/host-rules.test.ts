import { describe, expect, test } from 'vitest'
import { createContext, type HostRule, type RuleSettings } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

const options = { storage: memoryStorage(), ...r4() }
const ctx = createContext(options)

async function reported(resource: object, rules: RuleSettings): Promise<readonly string[]> {
  const { findings } = await validate(ctx, { resource: JSON.stringify(resource), rules })
  return findings.map(({ severity, kind, expression }) => `${severity} ${kind} ${expression}`)
}

const every = (on: string | readonly string[], when?: HostRule['when']): RuleSettings => ({
  'acme-every': {
    on,
    severity: 'warning',
    advice: 'None.',
    ...(when !== undefined && { when }),
    check: (value) => `Here is ${typeof value}.`,
  },
})

const PATIENT = {
  resourceType: 'Patient',
  implicitRules: 'http://hospital.test/rules',
  birthDate: '2000-01-01',
  identifier: [{ system: 'http://hospital.test/mrn', value: '123' }],
  link: [{ other: { reference: '#p' }, type: 'seealso' }],
  contained: [{ resourceType: 'Patient', id: 'p', birthDate: '2001' }],
}

const of = (findings: readonly string[]): readonly string[] => findings.filter((finding) => finding.includes('acme-every'))

describe('a rule of a host', () => {
  test('sees every value of a type: single members without extensions too, for which no node is made otherwise', async () => {
    expect(of(await reported(PATIENT, every('uri')))).toEqual([
      'warning acme-every Patient.implicitRules',
      'warning acme-every Patient.identifier[0].system',
    ])
  })

  test.each<[string, string | readonly string[], readonly string[]]>([
    ['an element', 'Patient.birthDate', ['Patient.birthDate', 'Patient.contained[0].birthDate']],
    ['a nested element', 'Patient.link.type', ['Patient.link[0].type']],
    ['a nested type', 'Patient.link', ['Patient.link[0]']],
    ['an element of a type above', 'DomainResource.contained', ['Patient.contained[0]']],
    ['resources of every type', 'Resource', ['Patient', 'Patient.contained[0]']],
    ['several types', ['date', 'Identifier'], ['Patient.birthDate', 'Patient.identifier[0]', 'Patient.contained[0].birthDate']],
  ])('looks at %s', async (_, on, paths) => {
    expect(of(await reported(PATIENT, every(on))).toSorted()).toEqual(paths.map((path) => `warning acme-every ${path}`).toSorted())
  })

  test('is asked only about values that it looks at', async () => {
    expect(
      of(
        await reported(
          PATIENT,
          every('date', (value) => value === '2001'),
        ),
      ),
    ).toEqual(['warning acme-every Patient.contained[0].birthDate'])
  })

  test('says several things, each at its place, with the resource around the value at hand', async () => {
    const rules: RuleSettings = {
      'acme-name': {
        on: 'Patient',
        severity: 'error',
        code: 'required',
        advice: 'Give a name.',
        check: (_, { resource, path }) => [
          `Nothing at ${path}.`,
          { text: `${Object.keys(resource).length} members.`, at: 'identifier[0].system', hint: 'Look here.' },
        ],
      },
    }
    const { valid, findings } = await validate(ctx, { resource: { ...PATIENT, contained: undefined, link: undefined }, rules })
    expect(valid).toBe(false)
    expect(findings).toMatchObject([
      { kind: 'acme-name', severity: 'error', code: 'required', text: 'Nothing at Patient.', expression: 'Patient' },
      { kind: 'acme-name', expression: 'Patient.identifier[0].system', hint: 'Look here.' },
    ])
  })

  test('can be suppressed by its name', async () => {
    const own = createContext({
      ...options,
      validation: { rules: every('date'), suppress: [{ id: 'acme-every', reason: 'Known.', until: '2999-12-31' }] },
    })
    expect((await validate(own, { resource: PATIENT })).findings.filter(({ kind }) => kind === 'acme-every')).toEqual([])
  })

  test('is not applied where only the structure is checked', async () => {
    expect((await validate(ctx, { resource: PATIENT, checks: 'structure', rules: every('date') })).findings).toEqual([])
  })
})

test('the rule of the documentation finds what it is for', async () => {
  const rules: RuleSettings = {
    'hospital-url': {
      on: 'uri',
      severity: 'error',
      advice: 'Use the https URL of the hospital.',
      when: (value) => typeof value === 'string' && value.startsWith('http://hospital.example/'),
      check: (value) => `${String(value)} must begin with https.`,
    },
  }
  const own = createContext({ ...options, validation: { rules } })
  const { findings } = await validate(own, {
    resource: { resourceType: 'Patient', identifier: [{ system: 'http://hospital.example/mrn', value: '1' }] },
  })
  expect(findings).toMatchObject([
    {
      kind: 'hospital-url',
      severity: 'error',
      code: 'business-rule',
      expression: 'Patient.identifier[0].system',
      text: expect.any(String) as string,
    },
  ])
})

describe('a kind of finding', () => {
  const wrong = { resourceType: 'Patient', gender: 'm', foo: 1 }

  test('is switched off', async () => {
    expect(await reported(wrong, { 'unknown-property': 'off' })).toEqual([
      'error code-not-in-value-set Patient.gender',
      'error code-system-not-inferred Patient.gender',
    ])
  })

  test('has another severity, which decides whether the resource is valid', async () => {
    const rules: RuleSettings = { 'unknown-property': 'warning', 'code-not-in-value-set': 'information', 'code-system-not-inferred': 'off' }
    const { valid, findings } = await validate(ctx, { resource: wrong, rules })
    expect([valid, findings.map(({ severity }) => severity)]).toEqual([true, ['information', 'warning']])
  })

  test('is set for all calls of a context, and otherwise for one', async () => {
    const own = createContext({ ...options, validation: { rules: { 'unknown-property': 'off' } } })
    const kinds = async (rules?: RuleSettings): Promise<number> => (await validate(own, { resource: wrong, rules })).findings.length
    expect([await kinds(), await kinds({ 'unknown-property': 'error' })]).toEqual([2, 3])
  })
})

const rule: HostRule = { on: 'Patient', severity: 'error', advice: 'None.', check: () => undefined }

test.each<[string, RuleSettings, string]>([
  ['an unknown kind', { 'dispaly-wrong': 'off' }, "Did you mean 'display-wrong'?"],
  ['a severity', { 'display-wrong': 'fatal' as 'error' }, "the severity 'fatal'"],
  ['a rule with the name of a kind', { 'display-wrong': rule }, 'this kind of finding exists'],
  ['a name', { 'Acme rule': rule }, 'lower-case letters'],
  ['a misspelt member', { 'acme-a': { ...rule, wen: () => true } as HostRule }, "no member 'wen'"],
  ['no check', { 'acme-a': { ...rule, check: 'x' as unknown as HostRule['check'] } }, 'check must be a function'],
  ['an unknown type', { 'acme-a': { ...rule, on: 'Pateint' } }, "'Pateint'"],
  ['an unknown element', { 'acme-a': { ...rule, on: ['Patient', 'Patient.foo'] } }, "'Patient.foo'"],
  ['no advice', { 'acme-a': { ...rule, advice: '' } }, 'advice must be a sentence'],
])('settings with %s are refused by name', async (_, rules, text) => {
  await expect(validate(ctx, { resource: { resourceType: 'Patient' }, rules })).rejects.toMatchObject({
    code: 'parameter-value',
    message: expect.stringContaining(text) as string,
  })
})
