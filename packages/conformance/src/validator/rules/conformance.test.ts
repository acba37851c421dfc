import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const HL7 = 'http://hl7.org/fhir/'

describe('a code system', () => {
  const system = (members: JsonObject): JsonObject => ({
    resourceType: 'CodeSystem',
    url: 'http://a.org/cs',
    status: 'active',
    content: 'complete',
    caseSensitive: true,
    concept: [{ code: 'a' }],
    ...members,
  })
  const property = (code: string, type: string, name?: string): JsonObject => ({
    code,
    type,
    ...(name !== undefined && { uri: `${HL7}concept-properties#${name}` }),
  })
  test.each<[string, JsonObject, readonly string[]]>([
    [
      'counts its concepts, also those within others',
      system({ count: 2, hierarchyMeaning: 'is-a', concept: [{ code: 'a', concept: [{ code: 'b' }] }] }),
      [],
    ],
    [
      'tells what it means that concepts are in others',
      system({ concept: [{ code: 'a', concept: [{ code: 'b' }] }] }),
      ['information code-system-incomplete CodeSystem'],
    ],
    ['of which nothing is here has no concepts', system({ content: 'not-present' }), ['error code-system-content CodeSystem.concept[0]']],
    ['that is complete has as many as it says', system({ count: 2 }), ['error code-system-count CodeSystem.count']],
    ['that is a fragment may have fewer', system({ count: 2, content: 'fragment' }), []],
    ['that is a fragment has not more', system({ count: 0, content: 'fragment' }), ['warning code-system-count CodeSystem.count']],
    ['that is complete has concepts', system({ concept: undefined }), ['warning code-system-empty CodeSystem']],
    [
      'that supplements another is a supplement',
      system({ supplements: 'http://b.org', caseSensitive: undefined }),
      ['error code-system-content CodeSystem.content'],
    ],
    ['that is a supplement says of what', system({ content: 'supplement' }), ['error code-system-content CodeSystem.content']],
    [
      'that is a supplement does not say whether case matters',
      system({ content: 'supplement', supplements: 'http://b.org' }),
      ['error code-system-content CodeSystem.caseSensitive'],
    ],
    ['says whether case matters', system({ caseSensitive: undefined }), ['information code-system-incomplete CodeSystem']],
    ['of HL7 has definitions', system({ url: `${HL7}x` }), ['warning code-system-incomplete CodeSystem.concept[0]']],
    [
      'declares a property once',
      system({ property: [property('parent', 'code', 'parent'), property('parent', 'code')] }),
      ['error code-system-property CodeSystem.property[1]'],
    ],
    [
      'declares the properties of its concepts',
      system({ concept: [{ code: 'a', property: [{ code: 'mine', valueString: 'x' }] }] }),
      ['error code-system-property CodeSystem.concept[0].property[0]'],
    ],
    [
      'gives properties of the type that it declares',
      system({
        hierarchyMeaning: 'is-a',
        property: [property('notSelectable', 'boolean')],
        concept: [{ code: 'a', concept: [{ code: 'b', property: [{ code: 'notSelectable', valueString: 'x' }] }] }],
      }),
      ['error code-system-property CodeSystem.concept[0].concept[0].property[0]'],
    ],
    [
      'supplements codes that there are',
      system({
        content: 'supplement',
        supplements: `${HL7}item-type`,
        caseSensitive: undefined,
        concept: [{ code: 'group' }, { code: 'none' }],
      }),
      ['error code-system-supplement CodeSystem.concept[1]'],
    ],
    [
      'gives its own properties a meaning',
      system({ property: [property('mine', 'string')] }),
      ['information code-system-property CodeSystem.property[0]'],
    ],
    ['knows the properties of FHIR by code', system({ property: [property('notSelectable', 'boolean')] }), []],
    [
      'makes no properties of FHIR',
      system({ property: [property('mine', 'string', 'mine')] }),
      ['error code-system-property CodeSystem.property[0]'],
    ],
    [
      'keeps the types of FHIR',
      system({ property: [property('notSelectable', 'string', 'notSelectable')] }),
      ['error code-system-property CodeSystem.property[0]'],
    ],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [], /^code-system-(?!unknown|status)/)).toEqual(expected)
  })
})

describe('a value set', () => {
  const own = {
    resourceType: 'CodeSystem',
    url: 'http://a.org/cs',
    status: 'active',
    content: 'complete',
    property: [
      { code: 'size', type: 'integer' },
      { code: 'kind', type: 'Coding' },
    ],
    concept: [{ code: 'a' }],
  }
  const including = (include: JsonObject): JsonObject => ({ resourceType: 'ValueSet', status: 'active', compose: { include: [include] } })
  const filtered = (property: string, op: string, value: string): JsonObject =>
    including({ system: own.url, filter: [{ property, op, value }] })
  const filter = 'value-set-filter ValueSet.compose.include[0].filter[0]'
  test.each<[string, JsonObject, readonly string[]]>([
    ['names systems by absolute url', including({ system: '#cs' }), ['error value-set-system ValueSet.compose.include[0]']],
    [
      'lists codes of the system',
      including({ system: own.url, concept: [{ code: 'a' }, { code: 'b' }] }),
      ['error value-set-code ValueSet.compose.include[0].concept[1]'],
    ],
    [
      'lists codes that cannot be checked',
      including({ system: 'http://b.org', concept: [{ code: 'b' }] }),
      ['warning value-set-system ValueSet.compose.include[0]'],
    ],
    ['names systems without version', including({ system: `${own.url}|1` }), ['error value-set-system ValueSet.compose.include[0]']],
    [
      'takes codes from no value set',
      including({ system: `${HL7}ValueSet/administrative-gender` }),
      ['error value-set-system ValueSet.compose.include[0]'],
    ],
    [
      'includes value sets that there are',
      including({ valueSet: [`${HL7}ValueSet/administrative-gender`, 'http://b.org/vs'] }),
      ['warning value-set-import ValueSet.compose.include[0].valueSet[1]', 'warning value-set-import ValueSet.compose.include[0]'],
    ],
    ['may list codes of a system that only a service has', including({ system: 'http://snomed.info/sct', concept: [{ code: '1' }] }), []],
    ['filters by a property of the system', filtered('size', '=', '3'), []],
    ['should not filter by another property', filtered('weight', '=', '3'), [`warning ${filter}`]],
    ['compares with a value of the type', filtered('size', '=', 'x'), [`error ${filter}`]],
    ['compares with true or false', filtered('notSelectable', '=', '1'), [`error ${filter}`]],
    ['compares with each of a list', filtered('size', 'in', '1,x'), [`error ${filter}`]],
    ['compares with a code that exists', filtered('kind', '=', `${own.url}#b`), [`error ${filter}`]],
    ['writes a Coding with its system', filtered('kind', '=', 'b'), [`error ${filter}`]],
    ['is about concepts of the system', filtered('concept', 'is-a', 'a'), []],
    ['is about no other concepts', filtered('concept', 'is-a', 'b'), [`error ${filter}`]],
    ['knows no hierarchy of numbers', filtered('size', 'is-a', '3'), [`error ${filter}`]],
    ['asks whether something exists by true or false', filtered('size', 'exists', '1'), [`error ${filter}`]],
    ['may match by expression', filtered('size', 'regex', 'x'), []],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [own], /^value-set-(?!unknown)/)).toEqual(expected)
  })
})

describe('a value set with parameters', () => {
  const declared = {
    url: 'http://hl7.org/fhir/tools/StructureDefinition/valueset-parameter',
    extension: [{ url: 'name', valueCode: 'p-a' }],
  }
  const using = (expression: string): JsonObject => {
    const extension = [
      { url: 'http://hl7.org/fhir/StructureDefinition/cqf-expression', valueExpression: { language: 'text/fhirpath', expression } },
    ]
    const filter = [{ property: 'inactive', op: '=', _value: { extension } }]
    return { resourceType: 'ValueSet', extension: [declared], status: 'active', compose: { include: [{ system: 'http://a.org', filter }] } }
  }
  const at = 'ValueSet.compose.include[0].filter[0].value.extension[0].value.ofType(Expression)'
  test.each<[string, string, readonly string[]]>([
    ['uses them in filters', '%p-a', []],
    ['uses no others', '%p-b', [`error value-set-expression ${at}`, 'warning value-set-parameter ValueSet.extension[0]']],
    ['has expressions that can be read', '$ and %p-a', [`error value-set-expression ${at}`]],
  ])('%s', async (_, expression, expected) => {
    expect(await findingsOf(using(expression), [], /^value-set-(?:expression|parameter)/)).toEqual(expected)
  })
})

describe('a concept map', () => {
  test('should map codes that exist', async () => {
    const group = {
      source: `${HL7}administrative-gender`,
      target: 'http://b.org',
      element: [{ code: 'male', target: [{ code: 'x', equivalence: 'equal' }] }, { code: 'horse' }],
    }
    const map = { resourceType: 'ConceptMap', status: 'active', group: [group] }
    expect(await findingsOf(map, [], /^concept-map/)).toEqual(['warning concept-map-code ConceptMap.group[0].element[1].code'])
  })

  const gender = `${HL7}administrative-gender`
  const mapping = (element: JsonObject, members: JsonObject = {}): JsonObject => ({
    resourceType: 'ConceptMap',
    status: 'active',
    group: [{ source: gender, target: 'http://b.org', element: [element] }],
    ...members,
  })
  const few = {
    resourceType: 'ValueSet',
    url: 'http://a.org/few',
    status: 'active',
    compose: { include: [{ system: gender, concept: [{ code: 'male' }] }] },
  }
  test.each<[string, JsonObject, readonly string[]]>([
    ['uses displays that there are', mapping({ code: 'male', display: 'Male' }), []],
    [
      'uses no other displays',
      mapping({ code: 'male', display: 'Horse' }),
      ['warning concept-map-code ConceptMap.group[0].element[0].code'],
    ],
    ['is from its value set', mapping({ code: 'male' }, { sourceCanonical: few.url }), []],
    [
      'is from nothing else',
      mapping({ code: 'female' }, { sourceCanonical: few.url }),
      ['warning concept-map-code ConceptMap.group[0].element[0].code'],
    ],
    ['tells code systems', mapping({}, { group: [{ source: gender, element: [] }] }), ['warning concept-map-code ConceptMap.group[0]']],
  ])('%s', async (_, map, expected) => {
    expect(await findingsOf(map, [few], /^concept-map/)).toEqual(expected)
  })
})

describe('a search parameter', () => {
  const parameter = (members: JsonObject): JsonObject => ({
    resourceType: 'SearchParameter',
    url: 'http://a.org/sp',
    name: 'Sp',
    status: 'active',
    description: 'x',
    code: 'sp',
    base: ['Patient'],
    type: 'string',
    ...members,
  })
  const origin = parameter({ url: 'http://a.org/origin', base: ['Patient', 'Person'] })
  test.each<[string, JsonObject, readonly string[]]>([
    ['starts from its base', parameter({ expression: 'Patient.name | (Patient.contact.name as HumanName)' }), []],
    ['may start from what its base is', parameter({ expression: 'Resource.id' }), []],
    [
      'starts from no other type',
      parameter({ expression: 'Patient.name | Person.name' }),
      ['error search-parameter-expression SearchParameter.expression'],
    ],
    [
      'follows elements that there are',
      parameter({ expression: 'Patient.name.given | Patient.deceased.exists() | Patient.name.where(use = 1).nothing' }),
      [],
    ],
    [
      'follows no other elements',
      parameter({ expression: 'Patient.name.nothing.exists()' }),
      ['error search-parameter-expression SearchParameter.expression'],
    ],
    ['can be read', parameter({ expression: 'Patient.name.where(' }), ['error search-parameter-expression SearchParameter.expression']],
    ['that is composite has components', parameter({ type: 'composite' }), ['error search-parameter SearchParameter']],
    [
      'has the type of what it derives from',
      parameter({ type: 'token', derivedFrom: origin['url'] }),
      ['error search-parameter SearchParameter'],
    ],
    [
      'has bases of what it derives from',
      parameter({ base: ['Patient', 'Group'], derivedFrom: origin['url'] }),
      ['error search-parameter SearchParameter'],
    ],
    ['fits what it derives from', parameter({ derivedFrom: origin['url'] }), []],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [origin], /^search-parameter/)).toEqual(expected)
  })

  test('has its own type in a capability statement', async () => {
    const searchParam = [
      { name: 'a', definition: origin['url'], type: 'string' },
      { name: 'b', definition: origin['url'], type: 'token' },
    ]
    const statement = {
      resourceType: 'CapabilityStatement',
      status: 'active',
      date: '2020',
      kind: 'requirements',
      fhirVersion: '4.0.1',
      format: ['json'],
      rest: [{ mode: 'server', resource: [{ type: 'Patient', searchParam }] }],
    }
    expect(await findingsOf(statement, [origin], /^capability/)).toEqual([
      'error capability-search CapabilityStatement.rest[0].resource[0].searchParam[1]',
    ])
  })
})

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
      'slices extensions by url',
      profile([element('Patient.extension', sliced('url')), element('Patient.name.extension', sliced('value'))]),
      ['error definition-slicing StructureDefinition'],
    ],
    ['may look into what is referred to', profile([element('Patient.generalPractitioner', sliced('resolve().code'))]), []],
    [
      'binds only codes',
      profile([element('Patient.birthDate', { binding: { strength: 'required', valueSet: 'http://a.org/vs' } })]),
      [`error definition-binding ${first}`],
    ],
    ['fixes values of the type of the element', profile([element('Patient.birthDate', { fixedDate: '2000' })]), []],
    [
      'fixes no values of other types',
      profile([element('Patient.birthDate', { fixedString: 'x' })]),
      [`error definition-binding ${first}`],
    ],
    [
      'has no patterns for parts of the element',
      profile([element('Patient.maritalStatus', { patternCoding: {} })]),
      [`error definition-binding ${first}`],
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
      'has no types that its base has not',
      profile([element('Patient.deceased[x]', { type: [{ code: 'string' }] })]),
      ['error definition-restriction StructureDefinition'],
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
      [`error definition-binding ${first}`],
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
      'has a constraint for each key',
      profile([constrained({}), constrained({ expression: 'true' }, 'Patient.deceased[x]')]),
      ['error definition-expression StructureDefinition.differential.element[1].constraint[0]'],
    ],
    ['takes no keys of its base', profile([constrained({ key: 'pat-1' })]), [`error definition-expression ${first}.constraint[0]`]],
    [
      'has no context when it is no extension',
      profile([], { context: [{ type: 'element', expression: 'Patient' }] }),
      ['error definition-context StructureDefinition.context[0]'],
    ],
    [
      'of obligations only adds them',
      profile([element('Patient.gender', { mustSupport: true }), element('Patient.birthDate', { short: 'x' })], {
        extension: [OBLIGATIONS],
      }),
      ['error definition-obligation StructureDefinition.differential.element[1].short'],
    ],
    [
      'of obligations keeps bindings',
      profile([element('Patient.gender', { binding: { strength: 'preferred', description: 'x' } })], { extension: [OBLIGATIONS] }),
      [`error definition-obligation ${first}.binding.strength`, `error definition-obligation ${first}.binding.description`],
    ],
    ['knows its base', profile([], { baseDefinition: 'http://a.org/none' }), ['warning definition-base StructureDefinition']],
    [
      'knows the profiles of types',
      profile([element('Patient.managingOrganization', { type: [{ code: 'Reference', targetProfile: ['http://a.org/none'] }] })]),
      [`warning definition-type-profile ${first}.type[0].targetProfile[0]`],
    ],
    [
      'names profiles for their types',
      profile([element('Patient.name', { type: [{ code: 'HumanName', profile: [`${HL7}StructureDefinition/Address`] }] })]),
      [`error definition-type-profile ${first}.type[0].profile[0]`],
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
    const derived = (...paths: readonly string[]): JsonObject => {
      const discriminator = paths.map((path) => ({ type: 'pattern', path }))
      const slicing = { discriminator, rules: 'open' }
      return profile([element('Patient.telecom', { slicing })], { url: 'http://a.org/q', baseDefinition: 'http://a.org/p' })
    }
    const errors = (resource: JsonObject): Promise<readonly string[]> => findingsOf(resource, [base], /^definition-(?!.*information)/)
    expect(await errors(derived('use'))).toContain('error definition-slicing StructureDefinition')
    expect(await errors(derived('system', 'use'))).not.toContain('error definition-slicing StructureDefinition')
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
    [{ type: 'element', expression: 'Patient.none' }, ['error definition-context StructureDefinition.context[0]']],
  ])('for extensions may have the context %j', async (context, expected) => {
    expect(await findingsOf(extension('http://a.org/p', { context: [context] }), [], /^definition-/)).toEqual(expected)
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

describe('an operation with a profile for its input', () => {
  const PROFILE = 'http://a.org/parameters'
  const slice = (name: string, elements: readonly JsonObject[] = [], number: JsonObject = { min: 0, max: '1' }): readonly JsonObject[] => [
    { id: `Parameters.parameter:${name}`, path: 'Parameters.parameter', sliceName: name, ...number },
    { id: `Parameters.parameter:${name}.name`, path: 'Parameters.parameter.name', fixedString: name },
    ...elements.map((element) => ({ id: `Parameters.parameter:${name}.x`, ...element })),
  ]
  const value = (code: string, ...targetProfile: readonly string[]): JsonObject => ({
    path: 'Parameters.parameter.value[x]',
    type: [{ code, targetProfile }],
  })
  const resource = (code: string): JsonObject => ({ path: 'Parameters.parameter.resource', type: [{ code }] })
  const profile = (element: readonly JsonObject[]): JsonObject =>
    profileOn('Parameters', PROFILE, [
      { path: 'Parameters.parameter', slicing: { discriminator: [{ type: 'value', path: 'name' }], rules: 'open' } },
      ...element,
    ])
  const operation = (...parameter: readonly JsonObject[]): JsonObject => ({
    resourceType: 'OperationDefinition',
    name: 'Ask',
    status: 'active',
    kind: 'operation',
    code: 'ask',
    system: true,
    type: false,
    instance: false,
    inputProfile: PROFILE,
    parameter: parameter.map((one) => ({ name: 'a', use: 'in', min: 0, max: '1', ...one })),
  })
  const AT = 'error operation-parameter OperationDefinition.parameter[0]'
  const PATIENT = `${HL7}StructureDefinition/Patient`
  test.each<[string, JsonObject, readonly JsonObject[], readonly string[]]>([
    ['has its parameters', operation({ type: 'string' }), slice('a', [value('string')]), []],
    ['has all its parameters', operation(), slice('a'), ['warning operation-parameter OperationDefinition.inputProfile']],
    ['has no others', operation({ type: 'string' }), [], ['warning operation-parameter OperationDefinition.parameter[0]']],
    ['has them as often', operation({ type: 'string', max: '*' }), slice('a', [value('string')]), [AT]],
    ['has them of the same type', operation({ type: 'code' }), slice('a', [value('string')]), [AT]],
    ['has them of one of the types', operation({ type: 'Patient' }), slice('a', [value('string'), resource('Patient')]), []],
    ['may leave the type open', operation({ type: 'Element' }), slice('a', [value('string')]), []],
    ['has the same targets', operation({ type: 'Reference', targetProfile: [PATIENT] }), slice('a', [value('Reference', PATIENT)]), []],
    ['has no other targets', operation({ type: 'Reference' }), slice('a', [value('Reference', PATIENT)]), [AT]],
    [
      'need not have what it gives',
      operation({ type: 'string' }, { use: 'out', name: 'b', type: 'string' }),
      slice('a', [value('string')]),
      [],
    ],
  ])('%s', async (_, definition, elements, expected) => {
    expect(await findingsOf(definition, [profile(elements)], /^operation-/)).toEqual(expected)
  })

  test('a parameter that is a resource can have a profile', async () => {
    const parameter = { type: 'Patient', targetProfile: [PATIENT] }
    expect(await findingsOf(operation(parameter), [], /^invariant/)).toEqual([])
    expect(await findingsOf(operation({ ...parameter, type: 'string' }), [], /^invariant/)).toEqual([
      'error invariant OperationDefinition.parameter[0]',
    ])
  })
})
