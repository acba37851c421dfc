import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('a structure definition', /^definition-/)
let n = 0
const HL7 = 'http://hl7.org/fhir/',
  SDU = HL7 + 'StructureDefinition/'
const sd = (type: string, element: readonly JsonObject[], m: JsonObject = {}): JsonObject & { url: string; type: string } => ({
  resourceType: 'StructureDefinition',
  url: `http://a.org/StructureDefinition/p${++n}`,
  name: 'P',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type,
  baseDefinition: SDU + type,
  derivation: 'constraint',
  differential: { element: [{ id: type, path: type }, ...element] },
  ...m,
})
const e = (path: string, m: JsonObject = {}, id?: string): JsonObject => ({ id: id ?? path, path, ...m })
const one = (
  type: string,
  path: string,
  m: JsonObject,
  sdm: JsonObject = {},
  defs: readonly JsonObject[] = [],
): readonly [JsonObject, readonly JsonObject[]] => [sd(type, [e(path, m)], sdm), defs]
add('ok', [], ...one('Patient', 'Patient.name', { min: 1 }))
add(
  'age: SD_ED_TYPE_PROFILE_WRONG',
  ['error|exception definition-type-profile StructureDefinition.differential.element[1].type[0].profile[0]'],
  ...one('Observation', 'Observation.valueQuantity', { type: [{ code: 'Quantity', profile: [SDU + 'Age'] }] }),
)
add(
  'age2: SD_ED_TYPE_PROFILE_WRONG',
  ['error|exception definition-type-profile StructureDefinition.differential.element[1].type[0].profile[0]'],
  ...one('Observation', 'Observation.value[x]', { type: [{ code: 'Quantity', profile: [SDU + 'Age'] }] }),
)
add('simple', [], ...one('Observation', 'Observation.valueQuantity', { type: [{ code: 'Quantity', profile: [SDU + 'SimpleQuantity'] }] }))
add(
  'wrong prof: ERROR_GENERATING_SNAPSHOT, SD_ED_TYPE_PROFILE_WRONG',
  [
    'error|exception definition-type-profile StructureDefinition.differential.element[1].type[0].profile[0]',
    'error|exception definition-snapshot StructureDefinition',
  ],
  ...one('Observation', 'Observation.valueQuantity', { type: [{ code: 'Quantity', profile: [SDU + 'Period'] }] }),
)
add(
  'prof unknown: SD_ED_TYPE_PROFILE_UNKNOWN',
  ['warning|exception definition-type-profile StructureDefinition.differential.element[1].type[0].profile[0]'],
  ...one('Observation', 'Observation.valueQuantity', { type: [{ code: 'Quantity', profile: ['http://a.org/nix'] }] }),
)
const fx = sd('Observation', [e('Observation.status', { fixedCode: 'final' })])
fx['url'] = 'http://a.org/fx'
const on = (path: string, m: JsonObject, b: ReturnType<typeof sd> = fx): readonly [JsonObject, readonly JsonObject[]] => [
  sd(b.type, [e(path, m)], { baseDefinition: b.url }),
  [b],
]
add(
  'fixed other: _DT_Fixed_Wrong',
  ['error|value definition-value Observation.status'],
  ...on('Observation.status', { fixedCode: 'amended' }),
)
add('fixed same', [], ...on('Observation.status', { fixedCode: 'final' }))
add('fixed to pattern', [], ...on('Observation.status', { patternCode: 'final' }))
const px = sd('Observation', [e('Observation.code', { patternCodeableConcept: { coding: [{ system: 'http://a.org/x', code: 'a' }] } })])
px['url'] = 'http://a.org/px'
add(
  'pattern other: SD_ELEMENT_PATTERN_NO_FIXED, UNKNOWN_CODESYSTEM',
  ['error|invalid definition-value StructureDefinition.differential.element[1].pattern.ofType(CodeableConcept)'],
  ...on('Observation.code', { patternCodeableConcept: { coding: [{ system: 'http://a.org/x', code: 'b' }] } }, px),
)
add(
  'pattern same: UNKNOWN_CODESYSTEM',
  [],
  ...on('Observation.code', { patternCodeableConcept: { coding: [{ system: 'http://a.org/x', code: 'a' }] } }, px),
)
add(
  'pattern to fixed: UNKNOWN_CODESYSTEM',
  [],
  ...on('Observation.code', { fixedCodeableConcept: { coding: [{ system: 'http://a.org/x', code: 'a' }] } }, px),
)
add('pattern value other', [], ...on('Observation.status', { patternCode: 'amended' }))
add(
  'ext url: SD_ELEMENT_FIXED_WRONG_TYPE, http://hl7.org/fhir/StructureDefinition/StructureDefinition#sdf-5, SD_CONSTRAINED_KIND_NO_MATCH, SD_DERIVATION_KIND_MISMATCH, _DT_Fixed_Wrong',
  ['error|not-found definition-base StructureDefinition', 'error|value definition-value Extension.url'],
  { ...sd('Extension', [e('Extension.url', { fixedUri: 'http://a.org/other' })]), baseDefinition: SDU + 'patient-birthPlace' },
)
add(
  'pat coding: UNKNOWN_CODESYSTEM',
  [],
  ...one('Observation', 'Observation.code', { patternCodeableConcept: { coding: [{ system: 'http://a.org/x' }] } }),
)
add(
  'path unknown',
  ['error|value definition-path StructureDefinition.differential.element[1]', 'error|value definition-path StructureDefinition'],
  ...one('Patient', 'Patient.foo', { min: 1 }),
)
add(
  'disc none: UNABLE_TO_INFER_CODESYSTEM, Terminology_TX_NoValid_16, ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  ...one('Patient', 'Patient.name', { slicing: { discriminator: [{ type: 'foo', path: 'use' }], rules: 'open' } }),
)
add(
  'bind cs: SD_ED_BIND_NOT_VS',
  ['error|business-rule definition-binding StructureDefinition.differential.element[1].binding'],
  ...one('Patient', 'Patient.maritalStatus', { binding: { strength: 'required', valueSet: HL7 + 'administrative-gender' } }),
)
add(
  'bind unknown: SD_ED_BIND_UNKNOWN_VS',
  ['warning|business-rule definition-binding StructureDefinition.differential.element[1].binding'],
  ...one('Patient', 'Patient.maritalStatus', { binding: { strength: 'required', valueSet: 'http://a.org/nix' } }),
)
add('bind none', [], ...one('Patient', 'Patient.maritalStatus', { binding: { strength: 'required' } }))
add(
  'bind weaker',
  ['error|business-rule definition-restriction StructureDefinition'],
  ...one('Patient', 'Patient.gender', { binding: { strength: 'extensible', valueSet: HL7 + 'ValueSet/administrative-gender' } }),
)
add(
  'bind notsubset',
  ['error|business-rule definition-restriction StructureDefinition'],
  ...one('Patient', 'Patient.gender', { binding: { strength: 'required', valueSet: HL7 + 'ValueSet/contact-point-use' } }),
)
const sub = {
  resourceType: 'ValueSet',
  url: 'http://a.org/vs-sub',
  status: 'active',
  compose: { include: [{ system: HL7 + 'administrative-gender', concept: [{ code: 'male' }] }] },
}
add('bind subset', [], ...one('Patient', 'Patient.gender', { binding: { strength: 'required', valueSet: sub.url } }, {}, [sub]))
add(
  'bind loinc: SD_ED_BIND_ALL_LOINC_CODES',
  ['warning|business-rule definition-binding StructureDefinition.differential.element[1].binding'],
  ...one('Observation', 'Observation.code', { binding: { strength: 'example', valueSet: 'http://loinc.org/vs' } }),
)
add(
  'bind sct: SD_ED_BIND_ALLSCT_CODES',
  ['warning|business-rule definition-binding StructureDefinition.differential.element[1].binding'],
  ...one('Observation', 'Observation.code', { binding: { strength: 'example', valueSet: 'http://snomed.info/sct?fhir_vs' } }),
)
/** A profile whose snapshot binds the code of a Basic, beside the definitions that it needs. */
const bound = (binding: JsonObject, valueSet?: JsonObject): readonly [JsonObject, readonly JsonObject[]] => {
  const code = { ...e('Basic.code'), min: 1, max: '1', type: [{ code: 'CodeableConcept' }], binding }
  return [sd('Basic', [], { snapshot: { element: [{ id: 'Basic', path: 'Basic' }, code] } }), valueSet === undefined ? [] : [valueSet]]
}
const IN_SNAPSHOT = 'business-rule definition-binding StructureDefinition.snapshot.element[1].binding'
const experiment = { resourceType: 'ValueSet', url: 'http://a.org/vs/experiment', status: 'active', experimental: true }
add(
  'snapshot loinc: SD_ED_BIND_ALL_LOINC_CODES',
  [`warning|${IN_SNAPSHOT}`],
  ...bound({ strength: 'example', valueSet: 'http://loinc.org/vs' }),
)
add('snapshot cs: SD_ED_BIND_NOT_VS', [`error|${IN_SNAPSHOT}`], ...bound({ strength: 'example', valueSet: HL7 + 'administrative-gender' }))
add('snapshot unknown: SD_ED_BIND_UNKNOWN_VS', [`warning|${IN_SNAPSHOT}`], ...bound({ strength: 'example', valueSet: 'http://a.org/nix' }))
add(
  'snapshot experiment: SD_ED_EXPERIMENTAL_BINDING',
  [`warning|${IN_SNAPSHOT}`],
  ...bound({ strength: 'preferred', valueSet: experiment.url }, experiment),
)
add('snapshot languages', [], ...bound({ strength: 'preferred', valueSet: HL7 + 'ValueSet/languages' }))
add('snapshot fine', [], ...bound({ strength: 'preferred', valueSet: HL7 + 'ValueSet/basic-resource-type' }))
add(
  'bind multi: SD_ED_BIND_MULTIPLE_TYPES',
  ['information|business-rule definition-binding StructureDefinition.differential.element[1].binding'],
  ...one(
    'Observation',
    'Observation.value[x]',
    { type: [{ code: 'CodeableConcept' }, { code: 'Quantity' }, { code: 'string' }], binding: { strength: 'required', valueSet: sub.url } },
    {},
    [sub],
  ),
)
add(
  'inv key of every element: ED_INVARIANT_KEY_ALREADY_USED',
  ['error|invalid definition-expression StructureDefinition.differential.element[1].constraint[0]'],
  ...one('Patient', 'Patient.name', { constraint: [{ key: 'ele-1', severity: 'error', human: 'h', expression: 'family.exists()' }] }),
)
add(
  'inv key of every extension: ED_INVARIANT_KEY_ALREADY_USED',
  ['error|invalid definition-expression StructureDefinition.differential.element[1].constraint[0]'],
  ...one('Patient', 'Patient.name', { constraint: [{ key: 'ext-1', severity: 'error', human: 'h', expression: 'family.exists()' }] }),
)
add(
  'inv of every element again',
  [],
  ...one('Patient', 'Patient.name', {
    constraint: [{ key: 'ele-1', severity: 'error', human: 'h', expression: 'hasValue() or (children().count() > id.count())' }],
  }),
)
add(
  'slice of a choice, by the path of its type',
  [],
  ...one('Observation', 'Observation.valueQuantity', { id: 'Observation.value[x]:valueQuantity', sliceName: 'valueQuantity', min: 1 }),
)
add(
  'slice without a name',
  ['error|business-rule definition-slicing StructureDefinition'],
  sd('Patient', [
    e('Patient.name', { slicing: { discriminator: [{ type: 'value', path: 'use' }], rules: 'open' } }),
    e('Patient.name', { id: 'Patient.name:a', min: 1 }),
  ]),
)
add(
  'inv elem',
  ['error|invalid definition-expression StructureDefinition.differential.element[1].constraint[0]'],
  ...one('Patient', 'Patient.name', { constraint: [{ key: 'x-1', severity: 'error', human: 'h', expression: 'foo.exists()' }] }),
)
add(
  'inv nokey: ED_INVARIANT_NO_KEY, Validation_VAL_Profile_Minimum',
  ['warning|informational definition-expression StructureDefinition.differential.element[1].constraint[0]'],
  ...one('Patient', 'Patient.name', { constraint: [{ severity: 'error', human: 'h', expression: 'given.exists()' }] }),
)
add(
  'inv noexpr: ED_INVARIANT_NO_EXPRESSION',
  ['information|informational definition-expression StructureDefinition.differential.element[1].constraint[0]'],
  ...one('Patient', 'Patient.name', { constraint: [{ key: 'x-1', severity: 'error', human: 'h' }] }),
)
add(
  'inv dupkey: ED_INVARIANT_KEY_ALREADY_USED',
  ['error|invalid definition-expression StructureDefinition.differential.element[1].constraint[1]'],
  ...one('Patient', 'Patient.name', {
    constraint: [
      { key: 'x-1', severity: 'error', human: 'h', expression: 'given.exists()' },
      { key: 'x-1', severity: 'error', human: 'h', expression: 'family.exists()' },
    ],
  }),
)
add(
  'inv basekey',
  [],
  ...one('Patient', 'Patient.contact', { constraint: [{ key: 'obs-6', severity: 'error', human: 'h', expression: 'name.exists()' }] }),
)
add(
  'target notallowed: Error_at__The_target_profile__is_not__valid_constraint_on_the_base_, ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  ...one('Patient', 'Patient.managingOrganization', { type: [{ code: 'Reference', targetProfile: [SDU + 'Patient'] }] }),
)
add(
  'target datatype: ERROR_GENERATING_SNAPSHOT, SD_ED_TYPE_PROFILE_WRONG_TARGET',
  [
    'error|exception definition-type-profile StructureDefinition.differential.element[1].type[0].targetProfile[0]',
    'error|exception definition-snapshot StructureDefinition',
  ],
  ...one('Patient', 'Patient.managingOrganization', { type: [{ code: 'Reference', targetProfile: [SDU + 'HumanName'] }] }),
)
add(
  'target unknown: SD_ED_TYPE_PROFILE_UNKNOWN',
  [
    'warning|exception definition-type-profile StructureDefinition.differential.element[1].type[0].targetProfile[0]',
    'warning|business-rule definition-type-profile StructureDefinition.differential.element[1]',
  ],
  ...one('Patient', 'Patient.managingOrganization', { type: [{ code: 'Reference', targetProfile: ['http://a.org/nix'] }] }),
)
add('target ok', [], ...one('Observation', 'Observation.subject', { type: [{ code: 'Reference', targetProfile: [SDU + 'Patient'] }] }))
add(
  'target string: SD_ILLEGAL_CHARACTERISTICS, SD_ED_TYPE_NO_TARGET_PROFILE',
  [
    'error|business-rule definition-binding StructureDefinition.differential.element[1]',
    'error|exception definition-type-profile StructureDefinition.differential.element[1].type[0].targetProfile[0]',
  ],
  ...one('Patient', 'Patient.name.family', { type: [{ code: 'string', targetProfile: [SDU + 'Patient'] }] }),
)
const ms = sd('Patient', [e('Patient.name', { mustSupport: true })])
ms['url'] = 'http://a.org/ms'
add('ms false', ['error|business-rule definition-restriction StructureDefinition'], ...on('Patient.name', { mustSupport: false }, ms))
add('min less', ['error|business-rule definition-restriction StructureDefinition'], ...one('Observation', 'Observation.status', { min: 0 }))
add(
  'max more',
  ['error|business-rule definition-restriction StructureDefinition'],
  ...one('Observation', 'Observation.status', { max: '2' }),
)
add(
  'slice noslicing',
  ['error|value definition-slicing StructureDefinition.snapshot.element[11]'],
  ...one('Patient', 'Patient.name', { sliceName: 'a' }, {}),
)
add(
  'slice nodef',
  ['error|value definition-slicing StructureDefinition.snapshot.element[11]'],
  sd('Patient', [e('Patient.name', { sliceName: 'a' }, 'Patient.name:a')]),
)
const SL = { slicing: { discriminator: [{ type: 'value', path: 'use' }], rules: 'open' } }
add(
  'slice ok',
  [],
  sd('Patient', [
    e('Patient.name', SL),
    e('Patient.name', { sliceName: 'a' }, 'Patient.name:a'),
    e('Patient.name.use', { fixedCode: 'official' }, 'Patient.name:a.use'),
  ]),
)
add(
  'slice twice: DUPLICATE_ID, http://hl7.org/fhir/StructureDefinition/StructureDefinition#sdf-17',
  ['error|business-rule definition-slicing StructureDefinition', 'error|value definition-slicing StructureDefinition.snapshot.element[13]'],
  sd('Patient', [
    e('Patient.name', SL),
    e('Patient.name', { sliceName: 'a' }, 'Patient.name:a'),
    e('Patient.name', { sliceName: 'a' }, 'Patient.name:a'),
  ]),
)
add(
  'slice twice by other ids: DUPLICATE_ID',
  ['error|business-rule definition-slicing StructureDefinition', 'error|value definition-slicing StructureDefinition.snapshot.element[13]'],
  sd('Patient', [
    e('Patient.name', SL),
    e('Patient.name', { sliceName: 'a' }, 'Patient.name:a'),
    e('Patient.name', { sliceName: 'a' }, 'Patient.name:b'),
  ]),
)
add(
  'slice min',
  ['information|value definition-slicing StructureDefinition.snapshot.element[11]'],
  sd('Patient', [
    e('Patient.name', { ...SL, min: 1 }),
    e('Patient.name', { sliceName: 'a', min: 1 }, 'Patient.name:a'),
    e('Patient.name', { sliceName: 'b', min: 1 }, 'Patient.name:b'),
  ]),
)
const SLICES = (...slices: readonly JsonObject[]): readonly JsonObject[] =>
  slices.map((m, i) => e('Patient.name', { sliceName: `s${i}`, ...m }, `Patient.name:s${i}`))
const SLICED = 'information|value definition-slicing StructureDefinition.snapshot.element[11]'
add('slices allow more', [SLICED], sd('Patient', [e('Patient.name', { ...SL, max: '2' }), ...SLICES({ max: '2' }, { max: '1' })]))
add('slices allow as many', [], sd('Patient', [e('Patient.name', { ...SL, max: '3' }), ...SLICES({ max: '2' }, { max: '1' })]))
const SLICED_BASE = sd('Patient', [e('Patient.name', { ...SL, max: '2' }), ...SLICES({ max: '1' })])
add(
  'slices allow more with those of the base',
  [SLICED],
  sd(
    'Patient',
    [e('Patient.name', { sliceName: 'b', max: '1' }, 'Patient.name:b'), e('Patient.name', { sliceName: 'c', max: '1' }, 'Patient.name:c')],
    {
      baseDefinition: SLICED_BASE.url,
    },
  ),
  [SLICED_BASE],
)
add(
  'a slice of a slice adds nothing',
  [],
  sd('Patient', [
    e('Patient.name', { ...SL, max: '1' }),
    e('Patient.name', { sliceName: 'a', max: '1' }, 'Patient.name:a'),
    e('Patient.name', { sliceName: 'a/b', max: '1' }, 'Patient.name:a/b'),
  ]),
)
add(
  'slices require more than they allow',
  [SLICED, SLICED.replace('information', 'warning')],
  sd('Patient', [e('Patient.name', SL), ...SLICES({ min: 3, max: '1' })]),
)
add('slices require as many as they allow', [], sd('Patient', [e('Patient.name', { ...SL, min: 2 }), ...SLICES({ min: 2, max: '2' })]))
const REDEFINES = (discriminator: JsonObject): readonly JsonObject[] => [
  e('Patient.name', SL),
  e('Patient.name', { sliceName: 'a', slicing: { discriminator: [discriminator], rules: 'open' } }, 'Patient.name:a'),
]
const RESLICE = e('Patient.name', { sliceName: 'a/b' }, 'Patient.name:a/b')
add(
  'slicing set up again in a slice: ATTEMPT_TO_CHANGE_SLICING',
  ['error|business-rule definition-slicing StructureDefinition'],
  sd('Patient', REDEFINES({ type: 'value', path: 'text' })),
)
add(
  'the same slicing set up again in a slice: ATTEMPT_TO_CHANGE_SLICING',
  ['information|business-rule definition-slicing StructureDefinition'],
  sd('Patient', REDEFINES({ type: 'value', path: 'use' })),
)
add('slices of a slice: ATTEMPT_TO_CHANGE_SLICING', [], sd('Patient', [...REDEFINES({ type: 'value', path: 'text' }), RESLICE]))
const discriminated = (path: string): JsonObject =>
  sd('Patient', [e('Patient.name', { slicing: { discriminator: [{ type: 'value', path }], rules: 'open' } })])
const WRONG_PATH = ['error|invalid definition-slicing StructureDefinition.differential.element[1].slicing.discriminator[0]']
add('discriminator that ends early: SD_PATH_ERROR', WRONG_PATH, discriminated('extension('))
add('discriminator with a function that there is none: SD_PATH_ERROR', WRONG_PATH, discriminated('period.nothing()'))
add('discriminator that leads on: SD_PATH_ERROR', [], discriminated("extension('http://a.org/x').value"))
const constrained = (expression: string): JsonObject =>
  sd('Patient', [e('Patient.name', { constraint: [{ key: 'n-1', severity: 'error', human: 'x', expression }] })])
const WRONG_EXPRESSION = ['error|invalid definition-expression StructureDefinition.differential.element[1].constraint[0]']
add('constraint with a function that there is none: ED_INVARIANT_EXPRESSION_ERROR', WRONG_EXPRESSION, constrained('family.nothing()'))
add('constraint with too many arguments: ED_INVARIANT_EXPRESSION_ERROR', WRONG_EXPRESSION, constrained('given.count(1) = 1'))
add('constraint with functions: ED_INVARIANT_EXPRESSION_ERROR', [], constrained('given.count() = 1 and family.memberOf(%resource.id)'))
add(
  'profile of a type that is not known',
  [
    'warning|value definition-type-profile StructureDefinition.snapshot.element[11]',
    'warning|exception definition-type-profile StructureDefinition.differential.element[1].type[0].profile[0]',
  ],
  sd('Patient', [e('Patient.name', { type: [{ code: 'HumanName', profile: ['http://a.org/nothing'] }] })]),
)
add(
  'slice of another type: SD_PATH_SLICE_INCONSISTENT_TYPE',
  ['warning|invalid definition-slicing StructureDefinition.differential'],
  sd('Patient', [
    e('Patient.contained', {
      slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' },
      type: [{ code: 'Practitioner' }],
    }),
    e('Patient.contained', { sliceName: 'a', type: [{ code: 'Organization' }] }, 'Patient.contained:a'),
  ]),
)
add(
  'slice of a type within: SD_PATH_SLICE_INCONSISTENT_TYPE',
  [],
  sd('Patient', [
    e('Patient.contained', { slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' } }),
    e('Patient.contained', { sliceName: 'a', type: [{ code: 'Organization' }] }, 'Patient.contained:a'),
  ]),
)
const UNSUPPORTED = sd('Patient', [e('Patient.name', SL), ...SLICES({})])
add(
  'slice of the base that is not supported: SD_PATH_SLICE_INCONSISTENT_MS',
  ['warning|invalid definition-must-support StructureDefinition.differential'],
  sd('Patient', [e('Patient.name', { mustSupport: true })], { baseDefinition: UNSUPPORTED.url }),
  [UNSUPPORTED],
)
add(
  'slice max',
  [],
  sd('Patient', [e('Patient.name', { ...SL, max: '1' }), e('Patient.name', { sliceName: 'a', max: '2' }, 'Patient.name:a')]),
)
add('slice minmax: ', [], sd('Patient', [e('Patient.name', { min: 2, max: '1' })]))
const TS = (m: JsonObject = {}): JsonObject => ({
  slicing: { discriminator: [{ type: 'type', path: '$this' }], ordered: false, rules: 'open', ...m },
})
add(
  'type ok',
  [],
  sd('Observation', [
    e('Observation.value[x]', TS()),
    e('Observation.value[x]', { sliceName: 'valueQuantity', type: [{ code: 'Quantity' }] }, 'Observation.value[x]:valueQuantity'),
  ]),
)
add(
  'type ordered: Error_at_path__in__Type_slicing_with_slicingordered__true, ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  sd('Observation', [
    e('Observation.value[x]', TS({ ordered: true })),
    e('Observation.value[x]', { sliceName: 'valueQuantity', type: [{ code: 'Quantity' }] }, 'Observation.value[x]:valueQuantity'),
  ]),
)
add(
  'type disc: ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  sd('Observation', [
    e('Observation.value[x]', TS({ discriminator: [{ type: 'value', path: '$this' }] })),
    e('Observation.value[x]', { sliceName: 'valueQuantity', type: [{ code: 'Quantity' }] }, 'Observation.value[x]:valueQuantity'),
  ]),
)
add(
  'type name: ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  sd('Observation', [
    e('Observation.value[x]', TS()),
    e('Observation.value[x]', { sliceName: 'foo', type: [{ code: 'Quantity' }] }, 'Observation.value[x]:foo'),
  ]),
)
add(
  'type several',
  [],
  sd('Observation', [
    e('Observation.value[x]', TS()),
    e(
      'Observation.value[x]',
      { sliceName: 'valueQuantity', type: [{ code: 'Quantity' }, { code: 'string' }] },
      'Observation.value[x]:valueQuantity',
    ),
  ]),
)
add(
  'into choice',
  ['error|value definition-path StructureDefinition.differential.element[1]', 'error|value definition-path StructureDefinition'],
  ...one('Observation', 'Observation.value[x].unit', { min: 1 }),
)
const so = sd('Patient', [
  e('Patient.name', { slicing: { discriminator: [{ type: 'value', path: 'use' }], ordered: true, rules: 'closed' } }),
  e('Patient.name', { sliceName: 'a' }, 'Patient.name:a'),
  e('Patient.name.use', { fixedCode: 'official' }, 'Patient.name:a.use'),
])
so['url'] = 'http://a.org/so'
add(
  'closed add: ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  sd(
    'Patient',
    [
      e('Patient.name', { slicing: { discriminator: [{ type: 'value', path: 'use' }], ordered: true, rules: 'closed' } }),
      e('Patient.name', { sliceName: 'b' }, 'Patient.name:b'),
    ],
    { baseDefinition: so.url },
  ),
  [so],
)
add(
  'rules open: Slicing_rules_on_differential__do_not_match_those_on_base___rule__, ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  sd('Patient', [e('Patient.name', { slicing: { discriminator: [{ type: 'value', path: 'use' }], ordered: true, rules: 'open' } })], {
    baseDefinition: so.url,
  }),
  [so],
)
add(
  'order off: Slicing_rules_on_differential__do_not_match_those_on_base___order__, ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  sd('Patient', [e('Patient.name', { slicing: { discriminator: [{ type: 'value', path: 'use' }], ordered: false, rules: 'closed' } })], {
    baseDefinition: so.url,
  }),
  [so],
)
for (const [expression, said] of [
  ['Observation.value[x]', []],
  ['Observation.valueQuantity', ['error|invalid definition-context StructureDefinition.context[0]']],
  ['http://hl7.org/fhir/StructureDefinition/Patient#Patient.name', []],
  ['http://hl7.org/fhir/StructureDefinition/Patient#Patient.nom', ['error|invalid definition-context StructureDefinition.context[0]']],
  ['http://a.org/unknown#Patient.nom', []],
] as const)
  add(`ctx choice ${expression}: SD_CONTEXT_SHOULD_ELEMENT_NOT_FOUND`, said, {
    ...sd('Extension', [e('Extension.url', { fixedUri: 'http://a.org/cc' })], { url: 'http://a.org/cc', kind: 'complex-type' }),
    context: [{ type: 'element', expression }],
  })
add('ctx inv: ED_CONTEXT_INVARIANT_EXPRESSION_ERROR', ['error|invalid definition-expression StructureDefinition.contextInvariant[0]'], {
  ...sd('Extension', [e('Extension.url', { fixedUri: 'http://a.org/ci' })], { url: 'http://a.org/ci', kind: 'complex-type' }),
  context: [{ type: 'element', expression: 'Patient' }],
  contextInvariant: ['nam.('],
})
add('ctx inv2: ED_CONTEXT_INVARIANT_EXPRESSION_ERROR', ['error|invalid definition-expression StructureDefinition.contextInvariant[0]'], {
  ...sd('Extension', [e('Extension.url', { fixedUri: 'http://a.org/ci2' })], { url: 'http://a.org/ci2', kind: 'complex-type' }),
  context: [{ type: 'element', expression: 'Patient' }],
  contextInvariant: ['nope.exists()'],
})
add(
  'ctx inv3: UNABLE_TO_DETERMINE_TYPE_CONTEXT_INV',
  ['information|informational definition-expression StructureDefinition.contextInvariant[0]'],
  {
    ...sd('Extension', [e('Extension.url', { fixedUri: 'http://a.org/ci3' })], { url: 'http://a.org/ci3', kind: 'complex-type' }),
    context: [{ type: 'fhirpath', expression: 'Patient.name.where(true)' }],
    contextInvariant: ['name.exists()'],
  },
)
const xb = sd('Patient', [e('Patient.name', { min: 1 })], { experimental: true })
xb['url'] = 'http://a.org/xb'
add(
  'base exp: SD_BASE_EXPERIMENTAL',
  ['warning|business-rule definition-base StructureDefinition'],
  sd('Patient', [e('Patient.name', { min: 1 })], { baseDefinition: xb.url }),
  [xb],
)
add(
  'nested ms: SD_NESTED_MUST_SUPPORT_DIFF',
  ['information|exception definition-must-support StructureDefinition.differential.element[1]'],
  ...one('Observation', 'Observation.subject', {
    type: [
      {
        code: 'Reference',
        targetProfile: [SDU + 'Patient'],
        extension: [{ url: SDU + 'elementdefinition-type-must-support', valueBoolean: true }],
      },
    ],
  }),
)
add(
  'fixed wrongtype',
  ['error|conflict definition-binding StructureDefinition'],
  ...one('Patient', 'Patient.birthDate', { fixedString: 'x' }),
)
const ob2 = {
  ...sd('Patient', [e('Patient.name', { mustSupport: true })]),
  url: 'http://a.org/ob2',
  extension: [{ url: SDU + 'obligation-profile', valueBoolean: true }],
}
const inh = (t: string, b = 'Patient', defs: readonly JsonObject[] = []): readonly [JsonObject, readonly JsonObject[]] => [
  { ...sd(b, [e(b + '.id')]), extension: [{ url: SDU + 'inherit-obligations', valueCanonical: t }] },
  defs,
]
add('inh ok', [], ...inh(ob2.url, 'Patient', [ob2]))
add(
  'inh not: SD_OBGLIGATION_INHERITS_PROFILE_NOT_RIGHT_TYPE',
  ['error|invalid definition-obligation StructureDefinition.extension[0]'],
  ...inh(ms.url, 'Patient', [ms]),
)
add(
  'inh base: SD_OBGLIGATION_INHERITS_PROFILE_NOT_RIGHT_BASE',
  ['error|invalid definition-obligation StructureDefinition.extension[0]'],
  ...inh(ob2.url, 'Group', [ob2]),
)
add(
  'inh unknown: SD_OBGLIGATION_INHERITS_PROFILE_TARGET_NOT_FOUND, SD_OBGLIGATION_INHERITS_PROFILE_NOT_RIGHT_TYPE',
  ['error|invalid definition-obligation StructureDefinition.extension[0]'],
  ...inh('http://a.org/nix'),
)
add(
  'nobase: Unable_to_find_base__for_',
  ['warning|not-found definition-base StructureDefinition'],
  sd('Patient', [e('Patient.name', { min: 1 })], { baseDefinition: 'http://a.org/nix' }),
)
add(
  'noderiv: SD_TYPE_NOT_DERIVED, SD_MUST_HAVE_DERIVATION',
  ['error|invalid definition-base StructureDefinition.type', 'error|not-found definition-base StructureDefinition'],
  sd('Patient', [e('Patient.name', { min: 1 })], { derivation: undefined }),
)
add(
  'kind: SD_CONSTRAINED_KIND_NO_MATCH, SD_DERIVATION_KIND_MISMATCH',
  ['error|not-found definition-base StructureDefinition'],
  sd('Patient', [e('Patient.name', { min: 1 })], { kind: 'complex-type' }),
)
{
  const a = sd('Patient', [e('Patient.name', { min: 1 })], { url: 'http://a.org/circ1', baseDefinition: 'http://a.org/circ2' })
  const b = sd('Patient', [e('Patient.name', { min: 1 })], { url: 'http://a.org/circ2', baseDefinition: 'http://a.org/circ1' })
  add(
    'circular: Circular_snapshot_references_detected_cannot_generate_snapshot_stack__, ERROR_GENERATING_SNAPSHOT',
    ['error|exception definition-snapshot StructureDefinition'],
    a,
    [b],
  )
}
const abstract = sd('Patient', [e('Patient.name', { min: 1 })], { abstract: true })
add('abstract: SD_DERIVATION_NO_CONCRETE', ['warning|not-found definition-base StructureDefinition'], abstract)
add('abstract, with another on it: SD_DERIVATION_NO_CONCRETE', [], abstract, [
  sd('Patient', [], { baseDefinition: `${abstract.url}|1.0.0` }),
])
add(
  'path dots: Illegal_path__in_differential_in__name_portion_mising_, ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  ...one('Patient', 'Patient..name', { min: 1 }),
)
add(
  'path char: ',
  ['error|value definition-path StructureDefinition.differential.element[1]', 'error|value definition-path StructureDefinition'],
  ...one('Patient', 'Patient.na-me', { min: 1 }),
)
add(
  'path 64: Illegal_path__in_differential_in__name_portion_exceeds_64_chars_in_length',
  ['error|exception definition-snapshot StructureDefinition'],
  ...one('Patient', 'Patient.' + 'a'.repeat(65), { min: 1 }),
)
add(
  'path space: Illegal_path__in_differential_in__no_unicode_whitespace, ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  ...one('Patient', 'Patient.na me', { min: 1 }),
)
add(
  'type code ext: Extension_EXT_Unknown_NotHere, ERROR_GENERATING_SNAPSHOT, SD_NO_TYPE_CODE_ON_CODE',
  [
    'error|invalid definition-type-profile StructureDefinition.differential.element[1]',
    'error|exception definition-snapshot StructureDefinition',
  ],
  ...one('Patient', 'Patient.name', { type: [{ _code: { extension: [{ url: 'http://a.org/x', valueString: 'x' }] } }] }),
)
add(
  'not type: ERROR_GENERATING_SNAPSHOT',
  ['error|exception definition-snapshot StructureDefinition'],
  ...one('Patient', 'Patient.birthDate', { type: [{ code: 'dateTime' }] }),
)
add(
  'issummary: Error_in_profile__at__Base_isSummary___derived_isSummary__',
  ['error|exception definition-snapshot StructureDefinition'],
  ...one('Patient', 'Patient.photo', { isSummary: true }),
)
add('first type', [], {
  ...sd('Patient', []),
  differential: { element: [{ id: 'Patient', path: 'Patient', type: [{ code: 'Patient' }] }] },
})
add('contentref', [], ...one('Questionnaire', 'Questionnaire.item.item', { min: 1, contentReference: '#Questionnaire.nope' }))
add(
  'complies: SD_EXTENSION_COMPLIES_WITH_UNKNOWN',
  ['error|invalid definition-obligation StructureDefinition'],
  ...one(
    'Patient',
    'Patient.name',
    { min: 1 },
    { extension: [{ url: SDU + 'structuredefinition-compliesWithProfile', valueCanonical: 'http://a.org/nix' }] },
  ),
)
const obliges = (element: readonly JsonObject[], m: JsonObject = {}): JsonObject =>
  sd('Patient', element, { extension: [{ url: SDU + 'obligation-profile', valueBoolean: true }], ...m })
const OBLIGES = 'error|invalid definition-obligation StructureDefinition'
const further = (purpose: string): JsonObject => ({
  binding: {
    strength: 'extensible',
    extension: [
      {
        url: HL7 + 'tools/StructureDefinition/additional-binding',
        extension: [
          { url: 'purpose', valueCode: purpose },
          { url: 'valueSet', valueCanonical: HL7 + 'ValueSet/marital-status' },
        ],
      },
    ],
  },
})
add('obligations: SD_OBGLIGATION_PROFILE_DERIVATION', [], obliges([e('Patient.name', { mustSupport: true })]))
add(
  'obligations of a type: SD_OBGLIGATION_PROFILE_DERIVATION, SD_TYPE_NOT_MATCH_NS',
  ['warning|invalid definition-type-name StructureDefinition.type', OBLIGES],
  obliges([], {
    derivation: 'specialization',
    kind: 'logical',
    type: 'http://a.org/Patient',
    baseDefinition: SDU + 'Element',
  }),
)
add(
  'obligations on a slice: SD_OBGLIGATION_PROFILE_UNMATCHED',
  [`${OBLIGES}.differential.element[1]`],
  obliges([e('Patient.photo', { mustSupport: true }, 'Patient.photo:a')]),
)
add(
  'obligations at another path: SD_OBGLIGATION_PROFILE_PATH_WRONG',
  [`${OBLIGES}.differential.element[1].path[0]`],
  obliges([e('Patient.telecom', { mustSupport: true }, 'Patient.name')]),
)
add(
  'obligations with a binding: SD_OBGLIGATION_PROFILE_ILLEGAL_BINDING',
  ['error|business-rule definition-binding StructureDefinition.differential.element[1]', `${OBLIGES}.differential.element[1].binding[0]`],
  obliges([e('Patient.name', { binding: { strength: 'example' } })]),
)
add(
  'obligations with more required codes: SD_OBGLIGATION_PROFILE_INVALID_BINDING_CODE',
  [`${OBLIGES}.differential.element[1].binding[0].extension[0]`],
  obliges([e('Patient.maritalStatus', further('maximum'))]),
)
add(
  'obligations with more codes: SD_OBGLIGATION_PROFILE_INVALID_BINDING_CODE',
  [],
  obliges([e('Patient.maritalStatus', further('candidate'))]),
)

const USAGE = 'StructureDefinition.differential.element[1].binding.extension[0].extension[0].value.ofType(UsageContext)'
const addUsage = messageTests('an additional binding', /^definition-binding$/)
const used = (system: string, code: string, value: JsonObject): JsonObject => {
  const usage = { url: 'usage', valueUsageContext: { code: { system, code }, ...value } }
  const extension = [{ url: HL7 + 'tools/StructureDefinition/additional-binding', extension: [usage] }]
  return sd('Patient', [e('Patient.maritalStatus', { binding: { strength: 'extensible', extension } })], { url: 'http://a.org/used' })
}
const text = { valueCodeableConcept: { text: 'x' } }
const purposes = (...codes: readonly string[]): JsonObject => {
  const parts = codes.map((code) => ({ url: 'purpose', valueCode: code }))
  const extension = [{ url: HL7 + 'tools/StructureDefinition/additional-binding', extension: parts }]
  return sd('Patient', [e('Patient.maritalStatus', { binding: { strength: 'extensible', extension } })])
}
addUsage('for a purpose', [], purposes('starter'))
addUsage(
  'for a purpose that there is not',
  [`error|business-rule definition-binding ${USAGE.replace('UsageContext', 'code')}`],
  purposes('nothing'),
)
addUsage(
  'for two purposes',
  ['error|business-rule definition-binding StructureDefinition.differential.element[1].binding.extension[0]'],
  purposes('required', 'maximum'),
)
addUsage('for an element: SD_ED_ADDITIONAL_BINDING_USAGE_INVALID_ELEMENT', [], used('http://a.org/used', 'Patient.gender', text))
addUsage(
  'for no element: SD_ED_ADDITIONAL_BINDING_USAGE_INVALID_ELEMENT',
  [`error|business-rule definition-binding ${USAGE}`],
  used('http://a.org/used', 'Patient.nothing', text),
)
addUsage(
  'for an amount: SD_ED_ADDITIONAL_BINDING_USAGE_INVALID_TYPE',
  [`error|business-rule definition-binding ${USAGE}`],
  used('http://a.org/used', 'Patient.gender', { valueQuantity: { value: 1 } }),
)
addUsage(
  'for something else: SD_ED_ADDITIONAL_BINDING_USAGE_UNKNOWN',
  [`information|business-rule definition-binding ${USAGE}`],
  used('http://a.org/elsewhere', 'Patient.gender', text),
)
addUsage(
  'to a value set that is not known: SD_ED_BIND_UNKNOWN_VS',
  ['warning|business-rule definition-binding StructureDefinition.differential.element[1].binding.extension[0]'],
  sd('Patient', [
    e('Patient.maritalStatus', {
      binding: {
        strength: 'extensible',
        extension: [
          {
            url: HL7 + 'tools/StructureDefinition/additional-binding',
            extension: [{ url: 'valueSet', valueCanonical: 'http://a.org/none' }],
          },
        ],
      },
    }),
  ]),
)
add(
  'bad valuetype',
  ['error|conflict definition-binding StructureDefinition'],
  ...one('Patient', 'Patient.birthDate', { patternString: 'x' }),
)
/** A logical model with another base. */
const modelOf = (base: string): JsonObject => {
  const url = 'http://a.org/StructureDefinition/Thing'
  const differential = { element: [{ id: 'Thing', path: 'Thing' }] }
  return { ...sd(url, []), url, kind: 'logical', derivation: 'specialization', baseDefinition: SDU + base, differential }
}
add(
  'a logical model of a resource: SD_CONSTRAINED_KIND_NO_MATCH',
  ['error|not-found definition-base StructureDefinition'],
  modelOf('Patient'),
)
add('a logical model of anything', [], modelOf('Element'))

const addType = messageTests('the type of a structure definition', /^(?:definition-type-name|code-not-in-value-set)$/)
const WRONG_TYPE = ['error|invalid definition-type-name StructureDefinition.type']
const typed = (type: string, m: JsonObject = {}): JsonObject => ({ ...sd(type, []), baseDefinition: SDU + 'DomainResource', ...m })
const model = { kind: 'logical', derivation: 'specialization', baseDefinition: SDU + 'Element' }
addType('that it constrains', [], sd('Patient', []))
addType('that is not said: SD_TYPE_MISSING', WRONG_TYPE, {
  ...typed('Patient'),
  type: undefined,
  _type: { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }] },
})
addType('of a logical model', [], typed('http://a.org/StructureDefinition/Thing', model))
addType(
  'of a logical model in another namespace: SD_TYPE_NOT_MATCH_NS',
  ['warning|invalid definition-type-name StructureDefinition.type'],
  typed('http://a.org/Thing', model),
)
addType(
  'of a resource, as a URL: SD_TYPE_NOT_LOGICAL',
  WRONG_TYPE,
  typed('http://a.org/StructureDefinition/Thing', { derivation: 'specialization' }),
)
addType('defined anew: SD_TYPE_NOT_DERIVED', WRONG_TYPE, typed('Patient', { derivation: 'specialization' }))
addType(
  'that FHIR does not have: SD_TYPE_NOT_LOCAL',
  [...WRONG_TYPE, 'warning|code-invalid code-not-in-value-set StructureDefinition.type'],
  typed('Thing', model),
)
addType('in its own definition', [], typed('Patient', { url: SDU + 'Patient', derivation: 'specialization' }))
