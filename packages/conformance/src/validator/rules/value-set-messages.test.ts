import { expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { messageTests } from './findings-of.js'

const add = messageTests('a value set', /^value-set-(?!unknown)/)
const ctx = createContext({ storage: memoryStorage(), ...r4() })
let n = 0
const HL7 = 'http://hl7.org/fhir/'
const vs = (m: JsonObject = {}): JsonObject => ({ resourceType: 'ValueSet', url: 'http://a.org/v' + ++n, status: 'active', ...m })
const inc = (...i: readonly JsonObject[]): JsonObject => vs({ compose: { include: i } })
const PAR = 'http://hl7.org/fhir/tools/StructureDefinition/valueset-parameter',
  CQF = HL7 + 'StructureDefinition/cqf-expression'
const par = (name: string, doc?: string): JsonObject => ({
  url: PAR,
  extension: [{ url: 'name', valueCode: name }, ...(doc ? [{ url: 'documentation', valueMarkdown: doc }] : [])],
})
const cs = (m: JsonObject = {}): JsonObject => ({
  resourceType: 'CodeSystem',
  url: 'http://a.org/s' + ++n,
  status: 'active',
  content: 'complete',
  caseSensitive: true,
  concept: [
    { code: 'a', display: 'Alpha' },
    { code: 'b', display: 'Beta' },
  ],
  ...m,
})
const A = HL7 + 'administrative-gender'
add(
  'par nodoc: VALUESET_PARAMETER_NO_DOCO, VALUESET_PARAMETER_NOT_USED, VALUESET_PARAMETER_NAME_WARNING',
  [
    'warning|business-rule value-set-parameter ValueSet.extension[0]',
    'warning|business-rule value-set-parameter ValueSet.extension[0]',
    'information|business-rule value-set-parameter ValueSet.extension[0]',
  ],
  { ...inc({ system: A }), extension: [par('x')] },
)
add(
  'par doc: VALUESET_PARAMETER_NAME_WARNING',
  [
    'warning|business-rule value-set-parameter ValueSet.extension[0]',
    'information|business-rule value-set-parameter ValueSet.extension[0]',
  ],
  { ...inc({ system: A }), extension: [par('x', 'doc')] },
)
add('par p', ['warning|business-rule value-set-parameter ValueSet.extension[0]'], { ...inc({ system: A }), extension: [par('p-x')] })
add(
  'sys bar0: VALUESET_REFERENCE_INVALID_TYPE_NO_VERSION_0',
  ['warning|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ system: A + '|' }),
)
add(
  'sys bar1: VALUESET_REFERENCE_INVALID_TYPE_NO_VERSION_1',
  ['error|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ system: A + '|4.0.1' }),
)
add(
  'sys bar2: VALUESET_REFERENCE_INVALID_TYPE_NO_VERSION_2',
  ['error|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ system: A + '|4.0.1', version: '4.0.0' }),
)
add(
  'sys bar3: VALUESET_REFERENCE_INVALID_TYPE_NO_VERSION_3',
  ['error|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ system: A + '|4.0.1', version: '4.0.1' }),
)
add(
  'imp type: VALUESET_REFERENCE_INVALID_TYPE',
  ['warning|business-rule value-set-import ValueSet.compose.include[0].valueSet[0]'],
  inc({ valueSet: [A] }),
)
add(
  'imp unknown: VALUESET_REFERENCE_UNKNOWN',
  ['warning|business-rule value-set-import ValueSet.compose.include[0].valueSet[0]'],
  inc({ valueSet: ['http://a.org/unk'] }),
)
add(
  'frag notcs: VALUESET_INCLUDE_CS_NOT_CS, VALUESET_INCLUDE_SYSTEM_ABSOLUTE_FRAG, VALUESET_INCLUDE_CS_NOT_FOUND',
  [
    'error|invalid value-set-system ValueSet.compose.include[0]',
    'error|invalid value-set-system ValueSet.compose.include[0]',
    'error|invalid value-set-system ValueSet.compose.include[0]',
  ],
  { ...inc({ system: '#o' }), contained: [{ resourceType: 'ValueSet', id: 'o', status: 'active' }] },
)
add(
  'frag none: VALUESET_INCLUDE_CS_NOT_FOUND, VALUESET_INCLUDE_SYSTEM_ABSOLUTE_FRAG',
  ['error|invalid value-set-system ValueSet.compose.include[0]', 'error|invalid value-set-system ValueSet.compose.include[0]'],
  inc({ system: '#o' }),
)
add(
  'frag multi: VALUESET_INCLUDE_CS_MULTI_FOUND, VALUESET_INCLUDE_SYSTEM_ABSOLUTE_FRAG',
  ['error|invalid value-set-system ValueSet.compose.include[0]', 'error|invalid value-set-system ValueSet.compose.include[0]'],
  { ...inc({ system: '#o' }), contained: [cs({ id: 'o' }), cs({ id: 'o' })] },
)
add(
  'content np',
  [],
  (() => {
    const c = cs({ content: 'not-present', concept: undefined })
    return inc({ system: c.url })
  })(),
)
{
  const c = cs({ content: 'not-present', concept: undefined })
  add(
    'content np2: VALUESET_INCLUDE_CS_CONTENT',
    ['warning|invalid value-set-system ValueSet.compose.include[0]'],
    inc({ system: c.url }),
    [c],
  )
}
{
  const c = cs({ content: 'not-present', concept: undefined })
  add('content np3', ['warning|invalid value-set-system ValueSet.compose.include[0]'], inc({ system: c.url, concept: [{ code: 'a' }] }), [
    c,
  ])
}
{
  const c = cs({ content: 'example' })
  add('content ex', ['warning|invalid value-set-system ValueSet.compose.include[0]'], inc({ system: c.url }), [c])
}
{
  const c = cs({ content: 'fragment' })
  add(
    'content fr: VALUESET_INCLUDE_CS_CONTENT',
    ['information|invalid value-set-system ValueSet.compose.include[0]'],
    inc({ system: c.url }),
    [c],
  )
}
{
  const c = cs({ content: 'supplement', supplements: 'http://a.org/s0', caseSensitive: undefined })
  add(
    'content su: VALUESET_INCLUDE_CS_SUPPLEMENT',
    ['error|invalid value-set-system ValueSet.compose.include[0]'],
    inc({ system: c.url }),
    [c],
  )
}
add(
  'no system: VALUESET_NO_SYSTEM_WARNING, http://hl7.org/fhir/StructureDefinition/ValueSet#vsd-1, http://hl7.org/fhir/StructureDefinition/ValueSet#vsd-2',
  ['warning|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ concept: [{ code: 'a' }] }),
)
add(
  'no system filter: http://hl7.org/fhir/StructureDefinition/ValueSet#vsd-2',
  ['warning|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ valueSet: [HL7 + 'ValueSet/administrative-gender'], filter: [{ property: 'concept', op: '=', value: 'x' }] }),
)
add(
  'unk1: VALUESET_UNC_SYSTEM_WARNING',
  ['warning|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ system: 'http://b.org/unknown', concept: [{ code: 'a' }] }),
)
add(
  'unk2: VALUESET_INC_CS_NO_SUPPORT',
  ['information|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ system: 'http://b.org/unknown', concept: [{ code: 'a' }, { code: 'b' }] }),
)
add(
  'ex1: VALUESET_EXAMPLE_SYSTEM_HINT',
  ['information|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ system: 'http://example.org/unknown', concept: [{ code: 'a' }] }),
)
add(
  'ex2',
  ['information|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ system: 'http://example.org/unknown', concept: [{ code: 'a' }, { code: 'b' }] }),
)
add(
  'unkver: VALUESET_UNC_SYSTEM_WARNING_VER',
  ['warning|business-rule value-set-system ValueSet.compose.include[0]'],
  inc({ system: A, version: '9.9', concept: [{ code: 'male' }] }),
)
add(
  'display: VALUESET_CODE_CONCEPT_HINT',
  ['information|informational value-set-display ValueSet.compose.include[0].concept[0]'],
  inc({ system: A, concept: [{ code: 'male', display: 'Woman' }] }),
)
add(
  'display mixed: VALUESET_CONCEPT_DISPLAY_PRESENCE_MIXED',
  ['information|business-rule value-set-display ValueSet.compose.include[0]'],
  inc({ system: A, concept: [{ code: 'male', display: 'Male' }, { code: 'female' }] }),
)
add(
  'sct mixed: VALUESET_CONCEPT_DISPLAY_SCT_TAG_MIXED',
  ['information|business-rule value-set-display ValueSet.compose.include[0]'],
  inc({
    system: 'http://snomed.info/sct',
    concept: [
      { code: '1', display: 'A (finding)' },
      { code: '2', display: 'B' },
    ],
  }),
)
const f = (m: JsonObject = {}): JsonObject => inc({ system: A, filter: [m] })
add(
  'f unkprop: VALUESET_UNKNOWN_FILTER_PROPERTY',
  ['warning|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'nix', op: '=', value: 'x' }),
)
add(
  'f unkprop nocs: VALUESET_UNKNOWN_FILTER_PROPERTY_NO_CS',
  ['information|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  inc({ system: 'http://b.org/unknown', filter: [{ property: 'nix', op: '=', value: 'x' }] }),
)
add('f knownprop nocs', [], inc({ system: 'http://b.org/unknown', filter: [{ property: 'concept', op: 'is-a', value: 'x' }] }))
add(
  'f novalue: Validation_VAL_Profile_Minimum, VALUESET_BAD_FILTER_EXPR_OR_VALUE',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'concept', op: 'is-a' }),
)
add(
  'f extonly: Extension_EXT_Unknown_NotHere, VALUESET_BAD_FILTER_EXPR_OR_VALUE',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'concept', op: 'is-a', _value: { extension: [{ url: 'http://a.org/x', valueString: 'x' }] } }),
)
add(
  'f lang: VALUESET_BAD_FILTER_EXPR_LANG',
  ['error|invalid value-set-expression ValueSet.compose.include[0].filter[0].extension[0].value'],
  {
    ...f({
      property: 'concept',
      op: 'is-a',
      _value: { extension: [{ url: CQF, valueExpression: { language: 'text/cql', expression: 'x' } }] },
    }),
  },
)
add('f both: VALUESET_BAD_FILTER_EXPR_AND_VALUE', ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'], {
  ...f({
    property: 'concept',
    op: 'is-a',
    value: 'male',
    _value: { extension: [{ url: CQF, valueExpression: { language: 'text/fhirpath', expression: '%p-x' } }] },
  }),
  extension: [par('p-x', 'd')],
})
add('f expr: VALUESET_BAD_FILTER_EXPR_PARAM_NAME', [], {
  ...f({
    property: 'concept',
    op: 'is-a',
    _value: { extension: [{ url: CQF, valueExpression: { language: 'text/fhirpath', expression: '%`p-x`' } }] },
  }),
  extension: [par('p-x', 'd')],
})
add(
  'f regex bad: VALUESET_BAD_FILTER_VALUE_VALID_REGEX',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'code', op: 'regex', value: '([' }),
)
add('f regex ok', [], f({ property: 'code', op: 'regex', value: 'm.*' }))
add(
  'f regex concept: VALUESET_BAD_FILTER_OP, VALUESET_BAD_PROPERTY_NO_REGEX',
  [
    'error|invalid value-set-filter ValueSet.compose.include[0].filter[0]',
    'error|invalid value-set-filter ValueSet.compose.include[0].filter[0]',
  ],
  f({ property: 'concept', op: 'regex', value: 'm.*' }),
)
add(
  'f comma: VALUESET_BAD_FILTER_VALUE_HAS_COMMA, VALUESET_BAD_FILTER_VALUE_VALID_CODE',
  [
    'information|invalid value-set-filter ValueSet.compose.include[0].filter[0]',
    'error|invalid value-set-filter ValueSet.compose.include[0].filter[0]',
  ],
  f({ property: 'concept', op: '=', value: 'male,female' }),
)
add('f in', [], f({ property: 'concept', op: 'in', value: 'male,female' }))
add(
  'f in space: VALUESET_BAD_FILTER_VALUE_CODE, VALUESET_BAD_FILTER_VALUE_VALID_CODE',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'concept', op: 'in', value: 'male, female' }),
)
add(
  'f space: Type_Specific_Checks_DT_String_WS, VALUESET_BAD_FILTER_VALUE_CODE, VALUESET_BAD_FILTER_VALUE_VALID_CODE',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'concept', op: '=', value: ' male' }),
)
add(
  'f unknown code: VALUESET_BAD_FILTER_VALUE_VALID_CODE',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'concept', op: 'is-a', value: 'zz' }),
)
add(
  'f exists: VALUESET_BAD_FILTER_OP',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'concept', op: 'exists', value: 'true' }),
)
add(
  'f exists bad: VALUESET_BAD_FILTER_VALUE_BOOLEAN',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'status', op: 'exists', value: 'maybe' }),
)
add(
  'f bool: VALUESET_BAD_FILTER_VALUE_BOOLEAN',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'inactive', op: '=', value: 'maybe' }),
)
add(
  'f dt: VALUESET_BAD_FILTER_VALUE_DATETIME',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'effectiveDate', op: '=', value: '20 May' }),
)
add(
  'f dt month: VALUESET_BAD_FILTER_VALUE_DATETIME',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'effectiveDate', op: '=', value: '2020-13' }),
)
add('a supplement of another version than the one that is named', [], inc({ system: 'http://b.org/supplement', version: '9' }), [
  { resourceType: 'CodeSystem', url: 'http://b.org/supplement', version: '1', status: 'active', content: 'supplement', supplements: A },
])
add('f dt2', [], f({ property: 'effectiveDate', op: '=', value: 'ge2020-01-01' }))
add(
  'f dec: VALUESET_BAD_FILTER_VALUE_DECIMAL',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'itemWeight', op: '=', value: 'x' }),
)
add('f status', [], f({ property: 'status', op: '=', value: 'zz' }))
add(
  'f display',
  ['warning|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  f({ property: 'display', op: '=', value: 'zz' }),
)
add('f parent', ['warning|invalid value-set-filter ValueSet.compose.include[0].filter[0]'], f({ property: 'parent', op: '=', value: 'zz' }))
const props = cs({
  property: [
    { code: 'p-code', type: 'code', uri: 'http://b.org/x#1' },
    { code: 'p-coding', type: 'Coding' },
    { code: 'p-str', type: 'string' },
    { code: 'p-int', type: 'integer' },
  ],
  filter: [
    { code: 'p-str', operator: ['='], value: 'x' },
    { code: 'only', operator: ['regex'], value: 'x' },
  ],
  concept: [
    { code: 'a' },
    { code: 'gone', property: [{ code: 'inactive', valueBoolean: true }] },
    { code: 'old', property: [{ code: 'status', valueCode: 'retired' }] },
  ],
})
const g = (m: JsonObject): JsonObject => inc({ system: props.url, filter: [m] })
add(
  'g code: VALUESET_BAD_FILTER_VALUE_VALID_CODE',
  ['warning|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  g({ property: 'p-code', op: '=', value: 'zz' }),
  [props],
)
add(
  'g coding legacy: VALUESET_BAD_FILTER_VALUE_CODED_LEGACY',
  ['warning|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  g({ property: 'p-coding', op: '=', value: A + '|male' }),
  [props],
)
add('g coding', [], g({ property: 'p-coding', op: '=', value: A + '#male' }), [props])
add(
  'g coding bad: VALUESET_BAD_FILTER_VALUE_CODED',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  g({ property: 'p-coding', op: '=', value: 'male' }),
  [props],
)
add(
  'g coding bad2: VALUESET_BAD_FILTER_VALUE_CODED_INVALID',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  g({ property: 'p-coding', op: '=', value: A + '#mole' }),
  [props],
)
add(
  'g str isa',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  g({ property: 'p-str', op: 'is-a', value: 'x' }),
  [props],
)
add('g str comma', [], g({ property: 'p-str', op: '=', value: 'x,y' }), [props])
add('g only', ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'], g({ property: 'only', op: '=', value: 'x' }), [
  props,
])
add(
  'g int isa',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  g({ property: 'p-int', op: 'is-a', value: '1' }),
  [props],
)
add('g int', [], g({ property: 'p-int', op: '=', value: 'ge1' }), [props])
add(
  'g inactive: VALUESET_BAD_FILTER_VALUE_VALID_CODE_INACTIVE',
  ['warning|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  g({ property: 'concept', op: 'is-a', value: 'gone' }),
  [props],
)
add(
  'g inactive2: VALUESET_BAD_FILTER_VALUE_VALID_CODE_INACTIVE',
  ['warning|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  g({ property: 'concept', op: 'is-a', value: 'old' }),
  [props],
)
add(
  'g parent',
  ['warning|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  g({ property: 'parent', op: '=', value: 'a' }),
  [props],
)
add('loinc concept', [], inc({ system: 'http://loinc.org', filter: [{ property: 'concept', op: '=', value: '1' }] }))
add(
  'loinc nix: VALUESET_UNKNOWN_FILTER_PROPERTY_NO_CS',
  ['information|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  inc({ system: 'http://loinc.org', filter: [{ property: 'nix', op: '=', value: '1' }] }),
)
add(
  'loinc STATUS',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  inc({ system: 'http://loinc.org', filter: [{ property: 'STATUS', op: '=', value: 'x' }] }),
)
add('loinc parent', [], inc({ system: 'http://loinc.org', filter: [{ property: 'parent', op: '=', value: 'LP1' }] }))
add('loinc copyright', [], inc({ system: 'http://loinc.org', filter: [{ property: 'copyright', op: '=', value: 'LOINC' }] }))
add(
  'loinc CLASSTYPE: VALUESET_BAD_FILTER_OP',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  inc({ system: 'http://loinc.org', filter: [{ property: 'CLASSTYPE', op: 'is-a', value: '1' }] }),
)
add(
  'sct concept=: VALUESET_BAD_FILTER_OP, VALUESET_BAD_FILTER_VALUE_VALID_CODE',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  inc({ system: 'http://snomed.info/sct', filter: [{ property: 'concept', op: '=', value: '404684003' }] }),
)
add('sct conceptis a', [], inc({ system: 'http://snomed.info/sct', filter: [{ property: 'concept', op: 'is-a', value: '404684003' }] }))
add(
  'sct nix=',
  ['warning|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  inc({ system: 'http://snomed.info/sct', filter: [{ property: 'nix', op: '=', value: '1' }] }),
)
for (const value of ['x', '404684004', '404684003 |Clinical finding|'])
  add(
    `sct concept is-a ${value}: VALUESET_BAD_FILTER_VALUE_VALID_CODE`,
    ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
    inc({ system: 'http://snomed.info/sct', filter: [{ property: 'concept', op: 'is-a', value }] }),
  )
add('sct 246075003=', [], inc({ system: 'http://snomed.info/sct', filter: [{ property: '246075003', op: '=', value: '404684003' }] }))
add('sct constraint=', [], inc({ system: 'http://snomed.info/sct', filter: [{ property: 'constraint', op: '=', value: '<< 404684003' }] }))
add(
  'sct expressions=: VALUESET_BAD_FILTER_VALUE_BOOLEAN',
  ['error|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  inc({ system: 'http://snomed.info/sct', filter: [{ property: 'expressions', op: '=', value: 'x' }] }),
)
add('rx TTY', [], inc({ system: 'http://www.nlm.nih.gov/research/umls/rxnorm', filter: [{ property: 'TTY', op: 'in', value: 'SCD,SBD' }] }))
add(
  'rx NIX: VALUESET_UNKNOWN_FILTER_PROPERTY_NO_CS',
  ['information|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  inc({ system: 'http://www.nlm.nih.gov/research/umls/rxnorm', filter: [{ property: 'NIX', op: '=', value: 'x' }] }),
)
add('bcp language', [], inc({ system: 'urn:ietf:bcp:47', filter: [{ property: 'language', op: 'exists', value: 'true' }] }))
add(
  'bcp nix',
  ['information|invalid value-set-filter ValueSet.compose.include[0].filter[0]'],
  inc({ system: 'urn:ietf:bcp:47', filter: [{ property: 'nix', op: '=', value: 'x' }] }),
)
const ex = (e: JsonObject, m: JsonObject = {}): JsonObject => vs({ expansion: { timestamp: '2020-01-01T00:00:00Z', ...e }, ...m })
add(
  'exp bare: VALUESET_EXPANSION_PARAMETER_NOT_FOUND, VALUESET_EXPANSION_PARAMETER_SYSTEM_NEEDED, VALUESET_EXPANSION_NO_IDENTIFIER, VALUESET_EXPANSION_EXTRA',
  [
    'warning|business-rule value-set-expansion ValueSet.expansion',
    'information|business-rule value-set-expansion ValueSet.expansion',
    'warning|invalid value-set-expansion ValueSet.expansion',
  ],
  ex({ contains: [{ system: A, code: 'male' }] }),
)
add(
  'exp full',
  [],
  ex({
    identifier: 'urn:uuid:7d2ff2a5-0b42-4f7d-9ef4-1e1ad7d2ff2a',
    parameter: [{ name: 'x', valueString: 'y' }],
    contains: [{ system: A, version: '4.0.1', code: 'male' }],
  }),
)
add(
  'exp used only',
  ['warning|business-rule value-set-expansion ValueSet.expansion'],
  ex({
    identifier: 'urn:uuid:7d2ff2a5-0b42-4f7d-9ef4-1e1ad7d2ff2a',
    parameter: [{ name: 'used-codesystem', valueUri: A + '|4.0.1' }],
    contains: [{ system: A, code: 'male' }],
  }),
)
add(
  'exp used two: VALUESET_EXPANSION_PARAMETER_SYSTEM_MULTIPLE',
  ['error|invalid value-set-expansion ValueSet.expansion'],
  ex({
    identifier: 'urn:uuid:7d2ff2a5-0b42-4f7d-9ef4-1e1ad7d2ff2a',
    parameter: [
      { name: 'x', valueString: 'y' },
      { name: 'used-codesystem', valueUri: A + '|4.0.1' },
      { name: 'used-codesystem', valueUri: A + '|4.0.2' },
    ],
    contains: [{ system: A, code: 'male' }],
  }),
)
add(
  'exp count: VALUESET_EXPANSION_PARAMETER_COUNT_WRONG, VALUESET_EXPANSION_EXTRA',
  ['warning|invalid value-set-expansion ValueSet.expansion'],
  ex({
    identifier: 'urn:uuid:7d2ff2a5-0b42-4f7d-9ef4-1e1ad7d2ff2a',
    total: 1,
    offset: 1,
    parameter: [{ name: 'x', valueString: 'y' }],
    contains: [{ system: A, version: '4.0.1', code: 'male' }],
  }),
)
const P = { identifier: 'urn:uuid:7d2ff2a5-0b42-4f7d-9ef4-1e1ad7d2ff2a', parameter: [{ name: 'x', valueString: 'y' }] }
const C = (...c: readonly string[]): readonly JsonObject[] => c.map((code) => ({ system: A, version: '4.0.1', code }))
add(
  'exp missing: VALUESET_EXPANSION_MISSING, VALUESET_EXPANSION_EXTRA',
  ['warning|invalid value-set-expansion ValueSet.expansion'],
  ex({ ...P, contains: C('male', 'female') }, { compose: { include: [{ system: A }] } }),
)
add(
  'exp extra: VALUESET_EXPANSION_EXTRA, VALUESET_EXPANSION_MISSING',
  ['warning|invalid value-set-expansion ValueSet.expansion'],
  ex({ ...P, contains: C('male', 'female', 'other', 'unknown', 'zz') }, { compose: { include: [{ system: A }] } }),
)
add('exp ok', [], ex({ ...P, contains: C('male', 'female', 'other', 'unknown') }, { compose: { include: [{ system: A }] } }))
add(
  'exp enum missing: VALUESET_EXPANSION_MISSING, VALUESET_EXPANSION_EXTRA',
  ['warning|invalid value-set-expansion ValueSet.expansion'],
  ex({ ...P, contains: C('male') }, { compose: { include: [{ system: A, concept: [{ code: 'male' }, { code: 'female' }] }] } }),
)
add(
  'exp unknown sys',
  [],
  ex({ ...P, contains: [{ system: 'http://b.org/u', version: '1', code: 'x' }] }, { compose: { include: [{ system: 'http://b.org/u' }] } }),
)

const ONE_OF_TWO = cs({ version: '1' })
const TWO = [ONE_OF_TWO, { ...ONE_OF_TWO, version: '2' }]
add(
  'several versions: TYPE_SPECIFIC_CHECKS_DT_CANONICAL_MULTIPLE_POSSIBLE_VERSIONS',
  ['warning|invalid value-set-system ValueSet.compose.include[0].system'],
  inc({ system: String(ONE_OF_TWO['url']) }),
  TWO,
)
add('one of several versions', [], inc({ system: String(ONE_OF_TWO['url']), version: '2' }), TWO)

const OID = 'urn:oid:2.999.1'
const withOid = (m: JsonObject = {}): JsonObject => cs({ identifier: [{ system: 'urn:ietf:rfc:3986', value: OID }], ...m })
const OID_USED = ['error|invalid value-set-system ValueSet.compose.include[0]']
add('an OID of a code system: VALUESET_INCLUDE_WRONG_CS_OID', OID_USED, inc({ system: OID, concept: [{ code: 'a' }] }), [withOid()])
add('an OID of two code systems: VALUESET_INCLUDE_WRONG_CS_OID_PLURAL', OID_USED, inc({ system: OID }), [withOid(), withOid()])
add("an OID of one of FHIR's code systems: VALUESET_INCLUDE_WRONG_CS_OID", OID_USED, inc({ system: 'urn:oid:2.16.840.1.113883.5.4' }))
add('an OID of none: VALUESET_INCLUDE_WRONG_CS_OID', [], inc({ system: 'urn:oid:2.999.2' }), [withOid()])
add('an OID that is the url: VALUESET_INCLUDE_WRONG_CS_OID_PLURAL', [], inc({ system: OID, concept: [{ code: 'a' }] }), [
  withOid({ url: OID }),
])

test.each([
  [undefined, ['information value-set-system ValueSet.compose.include[0]']],
  [['examples'] as const, ['error value-set-system ValueSet.compose.include[0]']],
])('examples of code systems, where %j are refused: VALUESET_EXAMPLE_SYSTEM_ERROR', async (refuse, expected) => {
  for (const system of [
    'http://example.org/colours',
    'https://www.example.net/colours',
    'http://acme.org/x',
    'urn:oid:2.999.7',
    'urn:oid:1.3.6.1.4.1.32473.1',
  ]) {
    const resource = inc({ system, concept: [{ code: 'a' }] })
    const { findings } = await validate(ctx, { resource, ...(refuse !== undefined && { refuse }) })
    const said = findings.filter(({ kind }) => kind === 'value-set-system')
    expect(said.map(({ severity, kind, expression }) => `${severity} ${kind} ${expression}`)).toEqual(expected)
  }
})
