import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('a code system', /^code-system-(?!unknown|status)/)
let n = 0
const HL7 = 'http://hl7.org/fhir/'
const cs = (m: JsonObject = {}): JsonObject => ({
  resourceType: 'CodeSystem',
  url: 'http://a.org/cs' + ++n,
  status: 'active',
  content: 'complete',
  caseSensitive: true,
  concept: [{ code: 'a', display: 'A' }],
  ...m,
})
/** One concept with properties. */
const having = (...property: readonly JsonObject[]): JsonObject => ({ concept: [{ code: 'a', property }] })
const P = (code: string, type: string, name?: string, extra: JsonObject = {}): JsonObject => ({
  code,
  type,
  ...(name && { uri: HL7 + 'concept-properties#' + name }),
  ...extra,
})
add(
  'parent string: CODESYSTEM_PROPERTY_KNOWN_CODE_SUGGESTIVE, CODESYSTEM_PROPERTY_CODE_TYPE_MISMATCH',
  [
    'warning|business-rule code-system-property CodeSystem.property[0]',
    'warning|business-rule code-system-property CodeSystem.property[0]',
  ],
  cs({ property: [P('parent', 'string')] }),
)
add(
  'parent code: CODESYSTEM_PROPERTY_CODE_DEFAULT_WARNING, CODESYSTEM_PROPERTY_KNOWN_CODE_SUGGESTIVE',
  [
    'warning|business-rule code-system-property CodeSystem.property[0]',
    'information|business-rule code-system-property CodeSystem.property[0]',
  ],
  cs({ property: [P('parent', 'code')] }),
)
add(
  'undeclared: CODESYSTEM_PROPERTY_UNDEFINED',
  ['warning|business-rule code-system-property CodeSystem.concept[0].property[0]'],
  cs({ ...having({ code: 'mine', valueString: 'x' }) }),
)
add(
  'undeclared status: CODESYSTEM_PROPERTY_UNDEFINED',
  ['warning|business-rule code-system-property CodeSystem.concept[0].property[0]'],
  cs({ ...having({ code: 'status', valueCode: 'x' }) }),
)
add(
  'dup prop: CODESYSTEM_PROPERTY_DUPLICATE_CODE, CODESYSTEM_PROPERTY_KNOWN_CODE_SUGGESTIVE',
  ['error|business-rule code-system-property CodeSystem.property[1]', 'warning|business-rule code-system-property CodeSystem.property[1]'],
  cs({ property: [P('parent', 'code', 'parent'), P('parent', 'code')] }),
)
add(
  'second type: CODESYSTEM_PROPERTY_UNKNOWN_CODE, CODESYSTEM_PROPERTY_DUPLICATE_CODE, CODESYSTEM_PROPERTY_WRONG_TYPE',
  [
    'information|business-rule code-system-property CodeSystem.property[0]',
    'error|business-rule code-system-property CodeSystem.property[1]',
    'information|business-rule code-system-property CodeSystem.property[1]',
    'error|business-rule code-system-property CodeSystem.concept[0].property[0]',
  ],
  cs({ property: [P('q', 'string'), P('q', 'integer')], ...having({ code: 'q', valueInteger: 1 }) }),
)
add(
  'rel uri: CODESYSTEM_PROPERTY_ABSOLUTE_URI',
  ['error|business-rule code-system-property CodeSystem.property[0]'],
  cs({ property: [{ code: 'x', type: 'string', uri: 'abc' }] }),
)
add(
  'nohash: CODESYSTEM_PROPERTY_URI_UNKNOWN',
  ['information|not-found code-system-property CodeSystem.property[0]'],
  cs({ property: [{ code: 'x', type: 'string', uri: 'http://b.org/x' }] }),
)
add(
  'nohash code: CODESYSTEM_PROPERTY_URI_UNKNOWN_TYPE, CODESYSTEM_PROPERTY_CODE_DEFAULT_WARNING, CODESYSTEM_PROPERTY_BAD_INTERNAL_REFERENCE',
  [
    'warning|not-found code-system-property CodeSystem.property[0]',
    'information|business-rule code-system-property CodeSystem.property[0]',
    'warning|invalid code-system-code CodeSystem.concept[0].property[0]',
  ],
  cs({
    property: [{ code: 'x', type: 'code', uri: 'http://b.org/x' }],
    ...having({ code: 'x', valueCode: 'zz' }),
  }),
)
add(
  'hash unknown: CODESYSTEM_PROPERTY_URI_UNKNOWN_BASE',
  ['warning|not-found code-system-property CodeSystem.property[0]'],
  cs({ property: [{ code: 'x', type: 'string', uri: 'http://b.org/x#y' }] }),
)
add(
  'hash known bad: CODESYSTEM_PROPERTY_URI_INVALID',
  ['warning|invalid code-system-property CodeSystem.property[0]'],
  cs({ property: [{ code: 'x', type: 'string', uri: 'http://terminology.hl7.org/CodeSystem/v3-ActCode#nope' }] }),
)
add(
  'mismatch: CODESYSTEM_PROPERTY_URI_CODE_MISMATCH',
  ['error|business-rule code-system-property CodeSystem.property[0]'],
  cs({ property: [P('child', 'code', 'parent')] }),
)
add(
  'uri type: CODESYSTEM_PROPERTY_URI_TYPE_MISMATCH',
  ['error|business-rule code-system-property CodeSystem.property[0]'],
  cs({ property: [P('status', 'string', 'status')] }),
)
add('deprecated', [], cs({ property: [P('deprecated', 'dateTime', 'deprecated')] }))
add(
  'bad ref: CODESYSTEM_PROPERTY_BAD_INTERNAL_REFERENCE',
  ['error|invalid code-system-code CodeSystem.concept[0].property[0]'],
  cs({ property: [P('parent', 'code', 'parent')], ...having({ code: 'parent', valueCode: 'zz' }) }),
)
add(
  'good ref',
  [],
  cs({
    property: [P('parent', 'code', 'parent')],
    concept: [{ code: 'a' }, { code: 'b', property: [{ code: 'parent', valueCode: 'a' }] }],
  }),
)
add(
  'bad syn: CODESYSTEM_PROPERTY_BAD_INTERNAL_REFERENCE, CODESYSTEM_PROPERTY_SYNONYM_CHECK',
  [
    'error|invalid code-system-code CodeSystem.concept[0].property[0]',
    'warning|business-rule code-system-property CodeSystem.concept[0].property[0]',
  ],
  cs({ property: [P('synonym', 'code', 'synonym')], ...having({ code: 'synonym', valueCode: 'zz' }) }),
)
add(
  'bad syn2: CODESYSTEM_PROPERTY_CODE_DEFAULT_WARNING, CODESYSTEM_PROPERTY_KNOWN_CODE_SUGGESTIVE, CODESYSTEM_PROPERTY_BAD_INTERNAL_REFERENCE, CODESYSTEM_PROPERTY_SYNONYM_CHECK',
  [
    'warning|business-rule code-system-property CodeSystem.property[0]',
    'information|business-rule code-system-property CodeSystem.property[0]',
    'warning|invalid code-system-code CodeSystem.concept[0].property[0]',
    'warning|business-rule code-system-property CodeSystem.concept[0].property[0]',
    'warning|business-rule code-system-property CodeSystem.concept[0].property[1]',
  ],
  cs({
    property: [P('synonym', 'code')],
    ...having({ code: 'synonym', valueCode: 'zz' }, { code: 'synonym', valueCode: 'zz' }),
  }),
)
add(
  'syn undeclared: CODESYSTEM_PROPERTY_UNDEFINED, CODESYSTEM_PROPERTY_SYNONYM_CHECK',
  [
    'warning|business-rule code-system-property CodeSystem.concept[0].property[0]',
    'warning|business-rule code-system-property CodeSystem.concept[0].property[0]',
  ],
  cs({ ...having({ code: 'synonym', valueCode: 'zz' }) }),
)
add(
  'no value: Validation_VAL_Profile_Minimum, CODESYSTEM_PROPERTY_UNKNOWN_CODE, CODESYSTEM_PROPERTY_NO_VALUE',
  [
    'information|business-rule code-system-property CodeSystem.property[0]',
    'error|business-rule code-system-property CodeSystem.concept[0].property[0]',
  ],
  cs({ property: [P('x', 'string')], ...having({ code: 'x' }) }),
)
add(
  'dup code: http://hl7.org/fhir/StructureDefinition/CodeSystem#csd-1, CODESYSTEM_DUPLICATE_CODE',
  ['error|business-rule code-system-code CodeSystem.concept[1].concept[0]'],
  cs({ concept: [{ code: 'a' }, { code: 'b', concept: [{ code: 'a' }] }], hierarchyMeaning: 'is-a' }),
)
add(
  'desig lang: CODESYSTEM_DESIGNATION_DISP_CLASH_LANG',
  ['warning|business-rule code-system-designation CodeSystem.concept[0].designation[0]'],
  cs({ language: 'en', concept: [{ code: 'a', display: 'A', designation: [{ value: 'Other' }] }] }),
)
add('desig lang2', [], cs({ language: 'en', concept: [{ code: 'a', display: 'A', designation: [{ value: 'Other', language: 'de' }] }] }))
add(
  'desig nolang: CODESYSTEM_DESIGNATION_DISP_CLASH_NO_LANG',
  ['warning|business-rule code-system-designation CodeSystem.concept[0].designation[0]'],
  cs({ concept: [{ code: 'a', display: 'A', designation: [{ value: 'Other' }] }] }),
)
add('desig same', [], cs({ concept: [{ code: 'a', display: 'A', designation: [{ value: 'A' }] }] }))
add('empty: CODESYSTEM_CS_COMPLETE_AND_EMPTY', ['warning|business-rule code-system-empty CodeSystem'], cs({ concept: undefined }))
add(
  'empty count: CODESYSTEM_CS_COMPLETE_AND_EMPTY, CODESYSTEM_CS_COUNT_COMPLETE_WRONG',
  ['warning|business-rule code-system-empty CodeSystem', 'error|invalid code-system-count CodeSystem.count'],
  cs({ concept: undefined, count: 5 }),
)
add(
  'hl7: CODESYSTEM_CONCEPT_NO_DISPLAY, CODESYSTEM_CONCEPT_NO_DEFINITION',
  [
    'warning|business-rule code-system-incomplete CodeSystem.concept[0]',
    'warning|business-rule code-system-incomplete CodeSystem.concept[0]',
  ],
  cs({ url: HL7 + 'CodeSystem/c1', concept: [{ code: 'a' }, { code: 'b' }] }),
)
add(
  'hl7 nested: CODESYSTEM_CONCEPT_NO_DEFINITION',
  ['warning|business-rule code-system-incomplete CodeSystem.concept[0].concept[0]'],
  cs({
    url: HL7 + 'CodeSystem/c2',
    hierarchyMeaning: 'is-a',
    concept: [{ code: 'a', display: 'A', definition: 'x', concept: [{ code: 'b', display: 'B' }] }],
  }),
)
add(
  'hl7 nocontent: Validation_VAL_Profile_Minimum, CODESYSTEM_CS_HL7_MISSING_ELEMENT_SHALL, CODESYSTEM_CONCEPT_NO_DEFINITION',
  ['error|business-rule code-system-incomplete CodeSystem', 'warning|business-rule code-system-incomplete CodeSystem.concept[0]'],
  cs({ url: HL7 + 'CodeSystem/c3', content: undefined }),
)
add(
  'nocontent: Validation_VAL_Profile_Minimum, CODESYSTEM_CS_NONHL7_MISSING_ELEMENT',
  ['warning|business-rule code-system-incomplete CodeSystem'],
  cs({ content: undefined }),
)
add(
  'np zero: CODESYSTEM_CS_COUNT_NOTPRESENT_ZERO, CODESYSTEM_CS_COUNT_NO_CONTENT_ALLOWED',
  ['error|invalid code-system-content CodeSystem.concept[0]', 'information|invalid code-system-count CodeSystem.concept[0]'],
  cs({ content: 'not-present', count: 0 }),
)
add('contained: CONTAINED_ORPHAN_DOM3', [], {
  resourceType: 'ValueSet',
  url: 'http://a.org/vsx',
  status: 'active',
  contained: [cs({ id: 'c' })],
  compose: { include: [{ system: 'http://a.org/cs', concept: [{ code: 'a' }] }] },
})
add(
  'contained q: CODESYSTEM_NOT_CONTAINED, CONTAINED_ORPHAN_DOM3',
  ['information|business-rule code-system-contained Questionnaire.contained[0]'],
  { resourceType: 'Questionnaire', url: 'http://a.org/qx', status: 'active', contained: [cs({ id: 'c' })] },
)
const base = cs({ url: 'http://a.org/base', count: 1, language: 'en', hierarchyMeaning: 'is-a', valueSet: 'http://a.org/base-vs' })
const S = (m: JsonObject = {}): JsonObject =>
  cs({ content: 'supplement', supplements: 'http://a.org/base', caseSensitive: undefined, ...m })
add('supp ok', [], S({}), [base])
add('supp count: CODESYSTEM_CS_COUNT_SUPPLEMENT_WRONG', ['error|invalid code-system-count CodeSystem.count'], S({ count: 7 }), [base])
add(
  'supp hm: CODESYSTEM_CS_SUPP_HIERARCHY_MEANING',
  ['error|business-rule code-system-content CodeSystem'],
  S({ hierarchyMeaning: 'part-of' }),
  [base],
)
add('supp hm same', [], S({ hierarchyMeaning: 'is-a' }), [base])
add(
  'supp vs: CODESYSTEM_CS_NO_VS_SUPPLEMENT2',
  ['warning|business-rule code-system-value-set CodeSystem'],
  S({ valueSet: 'http://a.org/other-vs' }),
  [base],
)
add(
  'supp vs none: CODESYSTEM_CS_NO_VS_SUPPLEMENT1',
  ['warning|business-rule code-system-value-set CodeSystem'],
  S({ valueSet: 'http://a.org/other-vs' }),
  [{ ...base, valueSet: undefined }],
)
add(
  'supp unknown: CODESYSTEM_CS_SUPP_CANT_CHECK',
  ['warning|business-rule code-system-supplement CodeSystem'],
  S({ supplements: 'http://a.org/unknown' }),
)
add(
  'supp version: CODESYSTEM_CS_SUPP_CANT_CHECK',
  ['warning|business-rule code-system-supplement CodeSystem'],
  S({ supplements: 'http://a.org/base|9', valueSet: undefined }),
  [{ ...base, version: '1' }],
)
add(
  'supp none: CODESYSTEM_CS_HL7_PRESENT_ELEMENT_SUPPL_MISSING, CODESYSTEM_CS_NONHL7_MISSING_ELEMENT, CODESYSTEM_CS_SUPP_NO_SUPP',
  [
    'error|business-rule code-system-content CodeSystem.content',
    'error|business-rule code-system-content CodeSystem',
    'information|business-rule code-system-incomplete CodeSystem',
  ],
  S({ supplements: undefined }),
)
add(
  'supp display: CODESYSTEM_SUPP_NO_DISPLAY',
  ['information|business-rule code-system-designation CodeSystem.concept[0]'],
  S({ language: 'en', valueSet: 'http://a.org/base-vs', concept: [{ code: 'a', display: 'Other' }] }),
  [base],
)
add(
  'supp display2: CODESYSTEM_SUPP_NO_DISPLAY',
  ['information|business-rule code-system-designation CodeSystem.concept[0]'],
  S({ language: 'en', concept: [{ code: 'a', display: 'Other' }] }),
  [base],
)
add(
  'supp nocode: CODESYSTEM_CS_SUPP_INVALID_CODE',
  ['error|business-rule code-system-supplement CodeSystem.concept[0]'],
  S({ concept: [{ code: 'zz', display: 'Other' }] }),
  [base],
)
const VS = (m: JsonObject = {}): JsonObject => ({
  resourceType: 'ValueSet',
  url: 'http://a.org/vs' + ++n,
  status: 'active',
  compose: { include: [{ system: 'http://a.org/csv' }] },
  ...m,
})
let v: JsonObject
v = VS({})
add('vs ok', [], cs({ url: 'http://a.org/csv', valueSet: v.url }), [v])
v = VS({ compose: undefined })
add(
  'vs nocompose: CodeSystem_CS_VS_Invalid',
  ['error|business-rule code-system-value-set CodeSystem'],
  cs({ url: 'http://a.org/csv', valueSet: v.url }),
  [v],
)
v = VS({ compose: { include: [{ system: 'http://a.org/csv' }, { system: 'http://a.org/csv2' }] } })
add(
  'vs two: CodeSystem_CS_VS_Invalid',
  ['error|business-rule code-system-value-set CodeSystem'],
  cs({ url: 'http://a.org/csv', valueSet: v.url }),
  [v],
)
v = VS({ compose: { include: [{ system: 'http://a.org/csv2' }] } })
add(
  'vs other: CodeSystem_CS_VS_WrongSystem',
  ['error|business-rule code-system-value-set CodeSystem'],
  cs({ url: 'http://a.org/csv', valueSet: v.url }),
  [v],
)
v = VS({
  expansion: {
    timestamp: '2020-01-01T00:00:00Z',
    contains: [{ system: 'http://a.org/csv', code: 'a', contains: ['b', 'c'].map((code) => ({ system: 'http://a.org/csv', code })) }],
  },
})
add(
  'vs with a hierarchical expansion',
  [],
  cs({
    url: 'http://a.org/csv',
    valueSet: v.url,
    hierarchyMeaning: 'is-a',
    concept: [{ code: 'a', concept: [{ code: 'b' }, { code: 'c' }] }],
  }),
  [v],
)
add(
  'vs with a hierarchical expansion of other codes: CodeSystem_CS_VS_Exp_Mismatch',
  ['error|business-rule code-system-value-set CodeSystem'],
  cs({ url: 'http://a.org/csv', valueSet: v.url, concept: [{ code: 'a' }, { code: 'b' }] }),
  [v],
)
v = VS({ compose: { include: [{ system: 'http://a.org/csv', concept: [{ code: 'a' }] }] } })
add(
  'vs details: CodeSystem_CS_VS_IncludeDetails',
  ['error|business-rule code-system-value-set CodeSystem'],
  cs({ url: 'http://a.org/csv', valueSet: v.url }),
  [v],
)
v = VS({
  expansion: {
    timestamp: '2020-01-01',
    contains: [
      { system: 'http://a.org/csv', code: 'a' },
      { system: 'http://a.org/csv', code: 'b' },
    ],
  },
})
add(
  'vs exp: CODESYSTEM_CS_VS_EXP_MISMATCH',
  ['error|business-rule code-system-value-set CodeSystem'],
  cs({ url: 'http://a.org/csv', valueSet: v.url }),
  [v],
)
add(
  'vs fragment: CODESYSTEM_CS_NO_VS_NOTCOMPLETE',
  ['information|business-rule code-system-value-set CodeSystem'],
  cs({ content: 'fragment', valueSet: 'http://a.org/nix' }),
)
const EXT = 'http://hl7.org/fhir/StructureDefinition/codesystem-property-valueset'
add(
  'prop vs: CODESYSTEM_PROPERTY_BAD_PROPERTY_CODE, CODESYSTEM_PROPERTY_UNKNOWN_CODE',
  [
    'information|business-rule code-system-property CodeSystem.property[0]',
    'error|invalid code-system-code CodeSystem.concept[0].property[1]',
  ],
  cs({
    property: [{ ...P('g', 'code'), extension: [{ url: EXT, valueCanonical: HL7 + 'ValueSet/administrative-gender' }] }],
    ...having({ code: 'g', valueCode: 'male' }, { code: 'g', valueCode: 'mole' }),
  }),
)
add(
  'prop vs unknown: CODESYSTEM_PROPERTY_VALUESET_NOT_FOUND, CODESYSTEM_PROPERTY_UNKNOWN_CODE',
  [
    'information|business-rule code-system-property CodeSystem.property[0]',
    'warning|not-found code-system-property CodeSystem.property[0]',
  ],
  cs({ property: [{ ...P('g', 'code'), extension: [{ url: EXT, valueCanonical: 'http://a.org/nix' }] }] }),
)
