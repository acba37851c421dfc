import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('the snapshot of a profile', /^definition-(?:snapshot|path)/)
const SD = 'http://hl7.org/fhir/StructureDefinition/'
const FAILS = ['error|exception definition-snapshot StructureDefinition']

const element = (path: string, more: JsonObject = {}): JsonObject => ({ id: path, path: path.replaceAll(/:[^.]*/g, ''), ...more })

function profile(name: string, elements: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    resourceType: 'StructureDefinition',
    url: `http://a.org/StructureDefinition/${name}`,
    name: 'P',
    status: 'active',
    kind: 'resource',
    abstract: false,
    type: 'Observation',
    baseDefinition: `${SD}Observation`,
    derivation: 'constraint',
    differential: { element: [element('Observation'), ...elements] },
    ...more,
  }
}

const byCode = { slicing: { discriminator: [{ type: 'value', path: 'code' }], rules: 'open' } }
const onFirst = { baseDefinition: 'http://a.org/StructureDefinition/first' }

/** A base whose snapshot has only what a case is about. */
const first = (...elements: readonly JsonObject[]): JsonObject =>
  profile('first', [], { snapshot: { element: [element('Observation', { min: 0, max: '*' }), ...elements] } })

const RANGE = 'Observation.referenceRange'
const below = profile('own', [element(`${RANGE}.text`, { min: 1 })], onFirst)
const ranges = (more: JsonObject): JsonObject => first(element(RANGE, { min: 0, max: '*', ...more }))

add('of a type of a choice by its name', [], profile('named', [element('Observation.valueQuantity', { sliceName: 'valueQuantity' })]))
add(
  'of a type of a choice by another name: Error_at_path__Slice_name_must_be__but_is_',
  FAILS,
  profile('misnamed', [element('Observation.valueQuantity', { sliceName: 'other' })]),
)

add(
  'of a type of a choice that it leaves',
  [],
  profile('left', [element('Observation.value[x]', { type: [{ code: 'Quantity' }] }), element('Observation.valueQuantity', { min: 1 })]),
)
add(
  'of a type of a choice that it does not leave',
  FAILS,
  profile('not-left', [element('Observation.value[x]', { type: [{ code: 'string' }] }), element('Observation.valueQuantity', { min: 1 })]),
)
add(
  'of an element after what is inside of it',
  FAILS,
  profile('late', [element('Observation.code.text', { min: 1 }), element('Observation.code', { min: 1 })]),
)

add('below an element of a known type', [], below, [ranges({ type: [{ code: 'Annotation' }] })])
add(
  'below a reference that leads nowhere: Unable_to_resolve_name_reference__at_path_, UNABLE_TO_RESOLVE_CONTENT_REFERENCE_IN_THIS_CONTEXT, Unable_to_resolve_reference_to_',
  FAILS,
  below,
  [ranges({ contentReference: '#Observation.nothing' })],
)
add('below an element without a type: _has_no_children__and_no_types_in_profile_', FAILS, below, [ranges({})])
add('below an unknown type: _has_children__for_type__in_profile__but_cant_find_type, Unknown_type__at_', FAILS, below, [
  ranges({ type: [{ code: 'Rnge' }] }),
])

add(
  'of a type that there is not: illegal constrained type',
  FAILS,
  profile('typed', [element('Observation.value[x]', { type: [{ code: 'Quantty' }] })]),
)

const sliced = first(
  element('Observation.category', {
    min: 0,
    max: '*',
    type: [{ code: 'CodeableConcept' }],
    slicing: { discriminator: [{ type: 'value', path: '$this' }], ordered: false, rules: 'open' },
  }),
  ...['a', 'b'].map((sliceName) =>
    element(`Observation.category:${sliceName}`, { sliceName, min: 0, max: '1', type: [{ code: 'CodeableConcept' }] }),
  ),
)
const slices = (...names: readonly string[]): JsonObject =>
  profile(
    'own',
    names.map((sliceName) => element(`Observation.category:${sliceName}`, { sliceName, max: '1' })),
    onFirst,
  )
add('slices in the order of the base', [], slices('a', 'b', 'c'), [sliced])
add('slices in another order: Named_items_are_out_of_order_in_the_slice', FAILS, slices('b', 'a'), [sliced])

const choice = (sliceName: string, types: readonly string[], more: JsonObject = {}): JsonObject =>
  element(`Observation.value[x]:${sliceName}`, { sliceName, type: types.map((code) => ({ code })), ...more })
add('slices by type', [], profile('own', [choice('valueQuantity', ['Quantity']), choice('valueString', ['string'])]), [])
const short = (...types: readonly string[]): JsonObject =>
  profile('own', [element('Observation.valueQuantity', { type: types.map((code) => ({ code })) })])
add('a short path of the type that it names', [], short('Quantity'), [])
add(
  'a short path of several types: Error_at_path__Slice_for_type__has_more_than_one_type_, Unexpected_condition_in_differential_typeslicetypelistsize__1_at_',
  FAILS,
  short('Quantity', 'string'),
  [],
)
add('a short path of another type: Error_at_path__Slice_for_type__has_wrong_type_', FAILS, short('string'), [])
add(
  'a required slice beside another: Invalid_slicing__there_is_more_than_one_type_slice_at__but_one_of_them__has_min__1_so_the_other_slices_cannot_exist',
  FAILS,
  profile('own', [choice('valueQuantity', ['Quantity'], { min: 1 }), choice('valueString', ['string'])]),
  [],
)
add(
  'a required slice beside one that is forbidden',
  [],
  profile('own', [choice('valueQuantity', ['Quantity'], { min: 1 }), choice('valueString', ['string'], { max: '0' })]),
  [],
)
add(
  'a short path of no type: Unexpected_condition_in_differential_typeslicetypelistsize__10_and_implicit_slice_name_does_not_contain_a_valid_type__at_',
  FAILS,
  profile('own', [element('Observation.valueNothing', { min: 1 })]),
  [],
)
add('a choice without its [x]: ED_PATH_WRONG_TYPE_MATCH', FAILS, profile('own', [element('Observation.component.value', { min: 1 })]))
add(
  'a choice named after one of its types: ED_PATH_WRONG_TYPE_MATCH',
  [],
  profile('own', [element('Observation.component.valueString', { min: 1 })]),
)
add(
  'a short path of a type that the base has dropped: ED_PATH_WRONG_TYPE_MATCH',
  FAILS,
  profile('own', [element('Observation.valueString', { min: 1 })], onFirst),
  [profile('first', [element('Observation.value[x]', { type: [{ code: 'Quantity' }] })])],
)
add(
  'an element that a sliced one does not have: UNKNOWN_PROPERTY',
  FAILS,
  profile('own', [
    element('Observation.component', byCode),
    element('Observation.component.nothing', { min: 1 }),
    element('Observation.component:a', { sliceName: 'a' }),
  ]),
)
add(
  'an element that a sliced one has: UNKNOWN_PROPERTY',
  [],
  profile('own', [
    element('Observation.component', byCode),
    element('Observation.component.value[x]', { min: 1 }),
    element('Observation.component:a', { sliceName: 'a' }),
  ]),
)
add(
  'slices of what does not repeat: Attempt_to_a_slice_an_element_that_does_not_repeat__from__in_',
  ['error|not-found definition-path StructureDefinition.differential.element[1].slicing', ...FAILS],
  profile('own', [element('Observation.method', byCode), element('Observation.method:a', { sliceName: 'a' })]),
)
add(
  'slices of what does not repeat in the base: Attempt_to_a_slice_an_element_that_does_not_repeat__from__in_',
  FAILS,
  profile('own', [element('Observation.component', byCode), element('Observation.component:a', { sliceName: 'a' })], onFirst),
  [profile('first', [element('Observation.component', { max: '1' })])],
)
add(
  'slices of what does not repeat here: Attempt_to_a_slice_an_element_that_does_not_repeat__from__in_',
  [],
  profile('own', [element('Observation.component', { ...byCode, max: '1' }), element('Observation.component:a', { sliceName: 'a' })]),
)

const toPatient = (target: string): JsonObject => ({ type: [{ code: 'Reference', targetProfile: [SD + target] }] })
const onPinned = profile('own', [element('Observation.subject', toPatient('Patient'))], onFirst)
add('a target that the base pins to a version', [], onPinned, [
  first(element('Observation.subject', { min: 0, max: '1', ...toPatient('Patient|4.0.1') })),
])
add('a target that the base does not have in any version', FAILS, onPinned, [
  first(element('Observation.subject', { min: 0, max: '1', ...toPatient('Device|4.0.1') })),
])

const model = (more: JsonObject): JsonObject => {
  const described = { short: 'x', definition: 'x', min: 0, max: '1' }
  const elements = [
    element('Model', { ...described, base: { path: 'Base', min: 0, max: '*' } }),
    element('Model.day', { ...described, base: { path: 'Model.day', min: 0, max: '1' }, type: [{ code: 'date' }], ...more }),
  ]
  const own = { kind: 'logical', type: 'http://a.org/StructureDefinition/Model', baseDefinition: `${SD}Base`, derivation: 'specialization' }
  return profile('Model', [], { ...own, differential: { element: elements }, snapshot: { element: elements } })
}
add(
  'a model with a limit',
  ['warning|exception definition-snapshot StructureDefinition.snapshot.element[1]'],
  model({ minValueDate: '1900-01-01' }),
)
add(
  'a model with a slice: SD_TABLE_PROHIBITED',
  ['error|exception definition-snapshot StructureDefinition.snapshot.element[1]'],
  model({ sliceName: 'a' }),
)

const addBase = messageTests('the base', /^definition-base/)
addBase('of a model', [], model({}))
addBase('that is not known', ['warning|not-found definition-base StructureDefinition'], { ...model({}), baseDefinition: `${SD}Nothing` })

const slicesNamed = (...names: readonly string[]): readonly JsonObject[] =>
  names.map((sliceName) => element(`${RANGE}:${sliceName}`, { sliceName }))
const baseOfTwo = first(element(RANGE, { min: 0, max: '*', ...byCode }), ...slicesNamed('a', 'b'))
for (const [names, expected] of [
  [['a', 'b', 'c'], []],
  [['a', 'c'], []],
  [['c', 'a'], FAILS],
  [['a', 'c', 'b'], FAILS],
] as const)
  add(
    `of slices ${names.join(', ')} where the base has a, b: Named_items_are_out_of_order_in_the_slice`,
    expected,
    profile('own', [element(RANGE, byCode), ...slicesNamed(...names)], onFirst),
    [baseOfTwo],
  )

const typed = { slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' } }
for (const [sliceName, expected] of [
  ['valueQuantity', []],
  ['valueString', []],
  ['foo', FAILS],
  ['valueFoo', FAILS],
] as const)
  add(
    `of a slice by type without a type, of the name ${sliceName}`,
    expected,
    profile('untyped', [element('Observation.value[x]', typed), element(`Observation.value[x]:${sliceName}`, { sliceName, min: 0 })]),
  )

add(
  "of FHIRPath's own type where the base has it",
  [],
  profile('system', [element('Observation.id', { type: [{ code: 'http://hl7.org/fhirpath/System.String' }] })]),
)

const bundleProfile = (...elements: readonly JsonObject[]): JsonObject => ({
  ...profile('bundleProfile', [], { type: 'Bundle', baseDefinition: `${SD}Bundle` }),
  differential: { element: [element('Bundle'), ...elements] },
})
const UNMATCHED = (index: number): readonly string[] => [
  `error|value definition-path StructureDefinition.differential.element[${index}]`,
  'error|value definition-path StructureDefinition',
]
const ENTRY = 'Bundle.entry.resource'
add(
  'of an element of the type of resource that it states',
  [],
  bundleProfile(element(ENTRY, { type: [{ code: 'Patient' }] }), element(`${ENTRY}.name`, { min: 1 })),
)
add(
  'of an element that the type of resource that it states does not have',
  UNMATCHED(2),
  bundleProfile(element(ENTRY, { type: [{ code: 'Patient' }] }), element(`${ENTRY}.nope`, { min: 1 })),
)
add('of an element of a resource of any type', UNMATCHED(1), bundleProfile(element(`${ENTRY}.name`, { min: 1 })))

const MODEL = {
  ...profile('Model', [], { kind: 'logical', derivation: 'specialization', type: 'http://a.org/StructureDefinition/Model' }),
  baseDefinition: `${SD}Element`,
  differential: {
    element: [element('Model', { min: 0, max: '*' }), element('Model.part', { min: 0, max: '1', type: [{ code: 'string' }] })],
  },
}
for (const [name, expected] of [
  ['part', []],
  ['nope', UNMATCHED(1)],
] as const)
  add(
    `of a logical model, with the element ${name}`,
    expected,
    {
      ...MODEL,
      url: 'http://a.org/StructureDefinition/ofModel',
      derivation: 'constraint',
      baseDefinition: 'http://a.org/StructureDefinition/Model',
      differential: { element: [element('Model'), element(`Model.${name}`, { min: 1 })] },
    },
    [MODEL],
  )
add(
  'of a type that is named by a URL, which only logical models are: SD_PATH_TYPE_MISMATCH',
  [0, 1].map((index) => `error|not-found definition-path StructureDefinition.differential.element[${index}]`),
  { ...MODEL, kind: 'complex-type' },
)
