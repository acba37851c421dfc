import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'

const HL7 = 'http://hl7.org/fhir/'

describe('a structure definition', () => {
  const profile = (element: readonly JsonObject[], members: JsonObject = {}): JsonObject => ({
    resourceType: 'StructureDefinition',
    url: 'http://a.org/p',
    name: 'P',
    status: 'active',
    kind: 'resource',
    abstract: false,
    type: 'Patient',
    baseDefinition: `${HL7}StructureDefinition/Patient`,
    derivation: 'constraint',
    differential: { element },
    ...members,
  })
  const element = (path: string, members: JsonObject = {}): JsonObject => ({ id: path, path, ...members })
  const OBLIGATIONS = { url: `${HL7}StructureDefinition/obligation-profile`, valueBoolean: true }
  const constrained = (members: JsonObject, path = 'Patient.birthDate'): JsonObject =>
    element(path, { constraint: [{ key: 'a-1', severity: 'error', human: 'x', expression: 'exists()', ...members }] })
  const sliced = (path: string): JsonObject => ({ slicing: { discriminator: [{ type: 'value', path }], rules: 'open' } })
  const first = 'StructureDefinition.differential.element[0]'
  test.each<[string, JsonObject, readonly string[]]>([
    [
      'constrains elements in the order of the base',
      profile([element('Patient.identifier'), element('Patient.identifier.system'), element('Patient.deceased[x]')]),
      [],
    ],
    [
      'constrains no elements before earlier ones',
      profile([element('Patient.birthDate'), element('Patient.name')]),
      [`error definition-path ${first}`, 'error definition-path StructureDefinition'],
    ],
    [
      'constrains each slice in order by itself',
      profile([
        element('Patient.name', sliced('use')),
        element('Patient.name', { id: 'Patient.name:a', sliceName: 'a' }),
        element('Patient.name.given'),
        element('Patient.name', { id: 'Patient.name:b', sliceName: 'b' }),
        element('Patient.name.use'),
      ]),
      [],
    ],
    [
      'constrains no elements that the base has not',
      profile([element('Patient.foo')]),
      [`error definition-path ${first}`, 'error definition-path StructureDefinition'],
    ],
    ['may constrain the value of a primitive', profile([element('Patient.birthDate.value')]), []],
    ['may constrain one type of a choice', profile([element('Patient.deceasedBoolean')]), []],
    [
      'does not slice the root',
      profile([element('Patient', sliced('id'))]),
      [`error definition-slicing ${first}`, 'error definition-snapshot StructureDefinition'],
    ],
    ['tells slices apart by what they have', profile([element('Patient.name', sliced('use'))]), []],
    [
      'tells slices apart by nothing else',
      profile([element('Patient.name', sliced('type'))]),
      [`error definition-slicing ${first}.slicing.discriminator[0]`],
    ],
    [
      'slices extensions by url, or by their values',
      profile([element('Patient.extension', sliced('url')), element('Patient.name.extension', sliced('value'))]),
      [],
    ],
    ['may look into what is referred to', profile([element('Patient.generalPractitioner', sliced('resolve().code'))]), []],
    [
      'binds only codes',
      profile([element('Patient.birthDate', { binding: { strength: 'required', valueSet: `${HL7}ValueSet/administrative-gender` } })]),
      [`error definition-binding ${first}`],
    ],
    ['fixes values of the type of the element', profile([element('Patient.birthDate', { fixedDate: '2000' })]), []],
    [
      'fixes no values of other types',
      profile([element('Patient.birthDate', { fixedString: 'x' })]),
      ['error definition-binding StructureDefinition'],
    ],
    [
      'has no patterns for parts of the element',
      profile([element('Patient.maritalStatus', { patternCoding: {} })]),
      ['error definition-binding StructureDefinition'],
    ],
    [
      'limits only what has an order',
      profile([element('Patient.active', { minValueDate: '2000' })]),
      [`error definition-binding ${first}`],
    ],
    ['limits only the length of texts', profile([element('Patient.active', { maxLength: 2 })]), [`error definition-binding ${first}`]],
    [
      'has constraints that can be read',
      profile([element('Patient.name', { constraint: [{ key: 'a', severity: 'error', human: 'x', expression: 'given.' }] })]),
      [`error definition-expression ${first}.constraint[0]`],
    ],
    [
      'needs what its base needs',
      profile([element('Patient.link.type', { min: 0 })]),
      ['error definition-restriction StructureDefinition'],
    ],
    [
      'allows no more than its base',
      profile([element('Patient.gender', { max: '2' })]),
      ['error definition-restriction StructureDefinition'],
    ],
    [
      'requires no more than its base allows',
      profile([element('Patient.gender', { min: 2 })]),
      ['error definition-restriction StructureDefinition'],
    ],
    ['requires what its base allows', profile([element('Patient.name', { min: 2 }), element('Patient.gender', { min: 1 })]), []],
    [
      'has no types that its base has not',
      profile([element('Patient.deceased[x]', { type: [{ code: 'string' }] })]),
      ['error definition-snapshot StructureDefinition'],
    ],
    ['may call the type of a url by its name', profile([element('Patient.extension.url', { type: [{ code: 'uri' }] })]), []],
    [
      'does not call the type of an id by that of an object',
      profile([element('Patient.id', { type: [{ code: 'HumanName' }] })]),
      ['error definition-snapshot StructureDefinition'],
    ],
    ['may allow a special type of resource', profile([element('Patient.contained', { type: [{ code: 'Organization' }] })]), []],
    [
      'is for the type of its base',
      profile([], { baseDefinition: `${HL7}StructureDefinition/Group` }),
      ['error definition-snapshot StructureDefinition'],
    ],
    ['is of the kind of its base', profile([], { kind: 'complex-type' }), ['error definition-base StructureDefinition']],
    ['is for elements of its type', profile([element('Person.name')]), [`error definition-path ${first}`]],
    ['slices what comes several times', profile([element('Patient.gender', sliced('$this'))]), [`error definition-path ${first}.slicing`]],
    [
      'slices choices',
      profile([element('Patient.deceased[x]', { slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' } })]),
      [],
    ],
    [
      'leaves to types what it means that they are missing',
      profile([element('Patient.gender', { meaningWhenMissing: 'x' })]),
      [`error definition-path ${first}`],
    ],
    [
      'has targets for references',
      profile([element('Patient.name', { type: [{ code: 'HumanName', targetProfile: [`${HL7}StructureDefinition/Patient`] }] })]),
      [`error definition-binding ${first}`, `error definition-type-profile ${first}.type[0].targetProfile[0]`],
    ],
    [
      'has decimal places for decimals',
      profile([element('Patient.birthDate', { extension: [{ url: `${HL7}StructureDefinition/maxDecimalPlaces`, valueInteger: 1 }] })]),
      [`error definition-binding ${first}`],
    ],
    [
      'has constraints of its own',
      profile([constrained({ source: 'http://b.org' })]),
      [`error definition-expression ${first}.constraint[0]`],
    ],
    [
      'may name the source of a constraint without an expression, which nothing evaluates',
      profile([constrained({ source: 'http://b.org', expression: undefined })]),
      [`information definition-expression ${first}.constraint[0]`],
    ],
    [
      'has a constraint for each key',
      profile([constrained({}), constrained({ expression: 'true' }, 'Patient.deceased[x]')]),
      ['error definition-expression StructureDefinition.differential.element[1].constraint[0]'],
    ],
    ['takes no keys of its base', profile([constrained({ key: 'pat-1' })]), [`error definition-expression ${first}.constraint[0]`]],
    [
      'has no context when it is not an extension',
      profile([], { context: [{ type: 'element', expression: 'Patient' }] }),
      ['error definition-context StructureDefinition.context[0]'],
    ],
    [
      'of obligations only adds them',
      profile([element('Patient.gender', { mustSupport: true }), element('Patient.birthDate', { short: 'x' })], {
        extension: [OBLIGATIONS],
      }),
      ['error definition-obligation StructureDefinition.differential.element[1].short[0]'],
    ],
    [
      'of obligations keeps bindings',
      profile([element('Patient.gender', { binding: { strength: 'preferred', description: 'x' } })], { extension: [OBLIGATIONS] }),
      [
        'error definition-restriction StructureDefinition',
        `error definition-obligation ${first}.binding[0].strength[0]`,
        `error definition-obligation ${first}.binding[0].description[0]`,
      ],
    ],
    ['knows its base', profile([], { baseDefinition: 'http://a.org/none' }), ['warning definition-base StructureDefinition']],
    [
      'knows the profiles of types',
      profile([element('Patient.managingOrganization', { type: [{ code: 'Reference', targetProfile: ['http://a.org/none'] }] })]),
      [`warning definition-type-profile ${first}.type[0].targetProfile[0]`, `warning definition-type-profile ${first}`],
    ],
    [
      'names profiles for their types',
      profile([element('Patient.name', { type: [{ code: 'HumanName', profile: [`${HL7}StructureDefinition/Address`] }] })]),
      [`error definition-type-profile ${first}.type[0].profile[0]`, 'error definition-snapshot StructureDefinition'],
    ],
    [
      'demands support for slices too',
      profile([
        element('Patient.name', { ...sliced('use'), mustSupport: true }),
        element('Patient.name', { id: 'Patient.name:a', sliceName: 'a' }),
      ]),
      ['warning definition-must-support StructureDefinition.differential'],
    ],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [], /^definition-/)).toEqual(expected)
  })

  test('keeps the discriminators of its base, and may add some', async () => {
    const base = profile([element('Patient.telecom', sliced('system'))])
    const derived = (type: string, ...paths: readonly string[]): JsonObject => {
      const discriminator = paths.map((path) => ({ type, path }))
      const slicing = { discriminator, rules: 'open' }
      return profile([element('Patient.telecom', { slicing })], { url: 'http://a.org/q', baseDefinition: 'http://a.org/p' })
    }
    const errors = (resource: JsonObject): Promise<readonly string[]> => findingsOf(resource, [base], /^definition-(?!.*information)/)
    expect(await errors(derived('value', 'use'))).toContain('error definition-snapshot StructureDefinition')
    expect(await errors(derived('pattern', 'system'))).toContain('error definition-snapshot StructureDefinition')
    expect(await errors(derived('value', 'system', 'use'))).toEqual([])
  })

  const extension = (fixedUri: string, members: JsonObject = {}): JsonObject =>
    profile([element('Extension.url', { fixedUri })], {
      kind: 'complex-type',
      type: 'Extension',
      baseDefinition: `${HL7}StructureDefinition/Extension`,
      context: [{ type: 'element', expression: 'Patient' }],
      ...members,
    })

  test('for extensions should not be for every element', async () => {
    const context = [
      { type: 'element', expression: 'Element' },
      { type: 'element', expression: 'Patient' },
    ]
    expect(await findingsOf(extension('http://a.org/p', { context }), [], /^definition-/)).toEqual([
      'warning definition-context StructureDefinition.context[0]',
    ])
  })

  test.each<[JsonObject, readonly string[]]>([
    [{ type: 'element', expression: 'Patient.contact.name' }, []],
    [{ type: 'element', expression: 'CanonicalResource' }, []],
    [{ type: 'fhirpath', expression: 'Patient.name.where(use = 1)' }, []],
    [{ type: 'fhirpath', expression: 'Patient.name' }, ['warning definition-context StructureDefinition.context[0]']],
    [{ type: 'element', expression: 'http://hl7.org/fhir/StructureDefinition/Patient#Patient.name' }, []],
    [{ type: 'element', expression: 'Patient.none' }, ['error definition-context StructureDefinition.context[0]']],
  ])('for extensions may have the context %j', async (context, expected) => {
    expect(await findingsOf(extension('http://a.org/p', { context: [context] }), [], /^definition-/)).toEqual(expected)
  })

  test.each<[string, JsonObject, readonly string[]]>([
    ['a profile', {}, []],
    [
      'a profile on another type',
      { type: 'Person' },
      ['error invariant StructureDefinition', 'error invariant StructureDefinition.snapshot'],
    ],
    ['a logical model', { kind: 'logical', type: 'http://a.org/Patient' }, []],
  ])('may have more than a thousand elements: %s', async (_, members, expected) => {
    const cardinality = { definition: 'x', min: 0, max: '1', base: { path: 'Patient.x', min: 0, max: '1' } }
    const inner = Array.from({ length: 1_200 }, (_, index) =>
      element(`Patient.contact.x${index}`, { ...cardinality, type: [{ code: 'string' }] }),
    )
    const snapshot = { element: [element('Patient', cardinality), ...inner] }
    expect(await findingsOf(profile([], { differential: undefined, snapshot, ...members }), [], /^invariant/)).toEqual(expected)
  })

  test('may have more than a thousand slices', async () => {
    const slices = Array.from({ length: 1_200 }, (_, index) =>
      element('Patient.name', { id: `Patient.name:x${index}`, sliceName: `x${index}` }),
    )
    expect(await findingsOf(profile([element('Patient'), ...slices]), [], /^invariant/)).toEqual([])
    expect(await findingsOf(profile([element('Patient'), element('Person.name')]), [], /^invariant/)).toEqual([
      'error invariant StructureDefinition.differential',
    ])
  })

  test('for extensions fixes their url', async () => {
    expect(await findingsOf(extension('http://a.org/other'), [], /^definition-/)).toEqual([
      'error definition-extension-url StructureDefinition',
    ])
  })

  test('has modifier extensions only as such', async () => {
    const modifier = extension('http://a.org/m', { url: 'http://a.org/m' })
    const differential = { element: [{ path: 'Extension', isModifier: true }, element('Extension.url', { fixedUri: 'http://a.org/m' })] }
    const type = [{ code: 'Extension', profile: ['http://a.org/m'] }]
    const using = (path: string): JsonObject => profile([element(path, { sliceName: 'm', type })])
    const known = [{ ...modifier, differential }]
    expect(await findingsOf(using('Patient.modifierExtension'), known, /^definition-/)).toEqual([])
    expect(await findingsOf(using('Patient.extension'), known, /^definition-/)).toEqual([
      `error definition-type-profile ${first}.type[0].profile[0]`,
    ])
  })
})
