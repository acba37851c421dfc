import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'
import { profileOn } from './profile-on.js'

const add = messageTests('a differential', /^definition-(?:binding|slicing|snapshot)$/)

const element = (path: string, members: JsonObject = {}): JsonObject => ({ id: path, path, ...members })
const onPatient = (...elements: readonly JsonObject[]): JsonObject => profileOn('Patient', 'http://a.org/p', elements)
const onObservation = (...elements: readonly JsonObject[]): JsonObject => profileOn('Observation', 'http://a.org/p', elements)
const by = (type: string, path: string): JsonObject => ({ slicing: { discriminator: [{ type, path }], rules: 'open' } })

const CONFLICT = ['error|conflict definition-binding StructureDefinition']
const NO_VALUE = ['error|business-rule definition-binding StructureDefinition.differential.element[0]']
const FAILS = ['error|exception definition-snapshot StructureDefinition']
const NOT_SET_UP = ['error|value definition-slicing StructureDefinition.snapshot.element[12]']

add('with a fixed value of a resource', CONFLICT, onPatient(element('Patient', { fixedString: 'a' })))
add('with a pattern of a resource', CONFLICT, onPatient(element('Patient', { patternCode: 'a' })))
add('with a limit of a resource: SD_ILLEGAL_CHARACTERISTICS', NO_VALUE, onPatient(element('Patient', { minValueInteger: 1 })))
add('with a length of a resource: SD_ILLEGAL_CHARACTERISTICS', NO_VALUE, onPatient(element('Patient', { maxLength: 1 })))
add(
  'with a binding of a resource: SD_ILLEGAL_CHARACTERISTICS',
  NO_VALUE,
  onPatient(element('Patient', { binding: { strength: 'example' } })),
)
add('with a pattern of a data type', [], {
  ...profileOn('Quantity', 'http://a.org/p', [element('Quantity', { patternQuantity: { unit: 'a' }, minValueQuantity: { value: 1 } })]),
  kind: 'complex-type',
})

const SLICE = element('Patient.name', { id: 'Patient.name:a', sliceName: 'a' })
add('with slicing before its slices', [], onPatient(element('Patient.name', by('value', 'use')), SLICE))
add('with slicing behind its slices', NOT_SET_UP, onPatient(SLICE, element('Patient.name', by('value', 'use'))))
add('with an element twice by other ids', FAILS, onPatient(element('Patient.name'), element('Patient.name', { id: 'other' })))
add(
  'with elements of slices, with ids of another form',
  [],
  onPatient(
    element('Patient.name', { ...by('value', 'use'), id: '1' }),
    element('Patient.name', { sliceName: 'a', id: '1.a' }),
    element('Patient.name.use', { fixedCode: 'usual', id: '2' }),
    element('Patient.name', { sliceName: 'b', id: '1.b' }),
    element('Patient.name.use', { fixedCode: 'official', id: '3' }),
  ),
)

add(
  'with slices, without ids',
  [],
  onPatient(
    { path: 'Patient.name', ...by('value', 'use') },
    { path: 'Patient.name', sliceName: 'a' },
    { path: 'Patient.name', sliceName: 'b' },
  ),
)

const CHOICE = 'Observation.value[x]'
add('with a choice that is sliced by its value', FAILS, onObservation(element(CHOICE, by('value', '$this'))))
add('with a choice that is sliced by its type', [], onObservation(element(CHOICE, by('type', '$this'))))
add(
  'with a slice of a choice for no type',
  ['error|value definition-slicing StructureDefinition.snapshot.element[21]'],
  onObservation(element(CHOICE, { id: `${CHOICE}:a`, sliceName: 'a' })),
)
add('with a slice of a choice for a type', [], onObservation(element(CHOICE, { id: `${CHOICE}:valueString`, sliceName: 'valueString' })))
add('with a slice of a choice by a short path', [], onObservation(element('Observation.valueQuantity', { sliceName: 'valueQuantity' })))

const addSnapshot = messageTests('a snapshot', /^definition-(?:binding|snapshot|expression|type-profile)$/)

/** A profile that says nothing, with a snapshot of two elements that is not what comes of it. */
const withElement = (name: string, type: string, members: JsonObject = {}): JsonObject => {
  const path = name.includes('[x]') ? 'Extension.value[x]' : `Patient.${name}`
  const [root = ''] = path.split('.')
  const described = { short: 'x', definition: 'x', min: 0 }
  const first = element(root, { ...described, max: '*', base: { path: root, min: 0, max: '*' } })
  const second = element(path, { ...described, max: '1', base: { path, min: 0, max: '1' }, type: [{ code: type }], ...members })
  return { ...profileOn(root, 'http://a.org/p', [element(root)]), snapshot: { element: [first, second] } }
}
const withSnapshot = (members: JsonObject): JsonObject => withElement('active', 'boolean', members)
const AT = 'StructureDefinition.snapshot.element[1]'
const constraint = (expression: string): JsonObject => ({ key: 'a-1', severity: 'error', human: 'x', expression })

addSnapshot('of what the type has', [], withSnapshot({ constraint: [constraint('true')] }))
addSnapshot(
  'with another type: SD_ED_TYPE_PROFILE_WRONG_TYPE',
  [`error|exception definition-snapshot ${AT}.type[0]`],
  withSnapshot({ type: [{ code: 'code' }] }),
)
addSnapshot(
  'with a limit that the type cannot have: SD_ILLEGAL_CHARACTERISTICS',
  [`error|business-rule definition-binding ${AT}`],
  withSnapshot({ maxLength: 1 }),
)
addSnapshot(
  'with slices of what does not repeat',
  [`error|exception definition-snapshot ${AT}.slicing`],
  withSnapshot(by('value', '$this')),
)
addSnapshot(
  'with a default of another type: SD_VALUE_TYPE_IILEGAL',
  [`error|exception definition-snapshot ${AT}`],
  withSnapshot({ defaultValueString: 'x' }),
)
addSnapshot(
  'with two constraints of one key: ED_INVARIANT_EXPRESSION_CONFLICT',
  [`error|invalid definition-expression ${AT}.constraint[1]`],
  withSnapshot({ constraint: [constraint('true'), constraint('1 = 1')] }),
)

const TYPE = 'http://hl7.org/fhir/StructureDefinition/'
const BINDING = { binding: { strength: 'example', valueSet: 'http://hl7.org/fhir/ValueSet/languages' } }
const BOUND = [`error|business-rule definition-binding ${AT}`]

for (const type of ['Reference', 'Money', 'Identifier', 'Period', 'boolean'])
  addSnapshot(`with a binding of a ${type}: SD_ED_BIND_NO_BINDABLE`, BOUND, withElement(`${type}[x]`, type, BINDING))
for (const type of ['code', 'id', 'Coding', 'Age']) addSnapshot(`with a binding of a ${type}`, [], withElement(`${type}[x]`, type, BINDING))
addSnapshot('with a binding of a backbone element', BOUND, withElement('contact', 'BackboneElement', BINDING))
for (const type of ['string', 'Reference', 'Patient.contact'])
  addSnapshot(
    `with a backbone element of type ${type}: SD_ED_TYPE_PROFILE_WRONG_TYPE`,
    [`error|exception definition-snapshot ${AT}.type[0]`],
    withElement('contact', type),
  )
for (const type of ['Patient.contact', 'Timing'])
  add(`with a backbone element of type ${type}`, FAILS, onPatient(element('Patient.contact', { type: [{ code: type }] })))
addSnapshot(
  'with a profile for another type: SD_ED_TYPE_PROFILE_WRONG',
  [`error|exception definition-type-profile ${AT}.type[0].profile[0]`],
  withElement('maritalStatus', 'CodeableConcept', { type: [{ code: 'CodeableConcept', profile: [`${TYPE}Quantity`] }] }),
)
addSnapshot(
  'with a target that is no resource: SD_ED_TYPE_PROFILE_WRONG_TARGET',
  [`error|exception definition-type-profile ${AT}.type[0].targetProfile[0]`],
  withElement('managingOrganization', 'Reference', { type: [{ code: 'Reference', targetProfile: [`${TYPE}Quantity`] }] }),
)
addSnapshot('of a resource, with a binding', ['error|business-rule definition-binding StructureDefinition.snapshot.element[0]'], {
  ...onPatient(element('Patient')),
  snapshot: { element: [{ ...element('Patient', BINDING), min: 0, max: '*', base: { path: 'Patient', min: 0, max: '*' } }] },
})
addSnapshot('of a data type, with a pattern and a binding', [], {
  ...profileOn('Coding', 'http://a.org/p', [element('Coding')]),
  kind: 'complex-type',
  snapshot: {
    element: [
      {
        ...element('Coding', BINDING),
        patternCoding: { userSelected: true },
        min: 0,
        max: '*',
        base: { path: 'Coding', min: 0, max: '*' },
      },
    ],
  },
})
addSnapshot(
  'with another ele-1',
  [`error|invalid definition-expression ${AT}.constraint[1]`],
  withSnapshot({
    constraint: [
      { ...constraint('true'), key: 'ele-1' },
      { ...constraint('1 = 1'), key: 'ele-1' },
    ],
  }),
)
