import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'
import { profileOn } from './profile-on.js'

const add = messageTests('the system of a Coding', /^(?:code-system-|coding-system-)/)

/** A tag is bound to nothing, a security label to a value set, and a code is in a CodeableConcept. */
const tagged = (system: string, members: JsonObject = {}): JsonObject => ({
  resourceType: 'Basic',
  meta: { tag: [{ system, code: 'a', ...members }] },
  code: { text: 'x' },
})
const labelled = (system: string): JsonObject => ({
  resourceType: 'Basic',
  meta: { security: [{ system, code: 'a' }] },
  code: { text: 'x' },
})
const coded = (system: string, members: JsonObject = {}): JsonObject => ({
  resourceType: 'Basic',
  code: { coding: [{ system, code: 'a', ...members }] },
})

const TAG = 'Basic.meta.tag[0]'
const FAULT = [`error|code-invalid code-system-unknown ${TAG}`]
const SILENT = [`information|unknown code-system-unknown ${TAG}.system`]
const NOT_FOUND = ['warning|not-found code-system-unknown Basic.code.coding[0].system']

add('that is not known', SILENT, tagged('http://a.org/nowhere'))
add('on build.fhir.org: TERMINOLOGY_TX_SYSTEM_WRONG_BUILD', FAULT, tagged('http://build.fhir.org/administrative-gender'))
add('that is a page: TERMINOLOGY_TX_SYSTEM_WRONG_HTML', FAULT, tagged('http://hl7.org/fhir/codesystem-administrative-gender.html'))
add('that FHIR does not have: Terminology_TX_System_Unknown', FAULT, tagged('http://hl7.org/fhir/nowhere'))
add('of an implementation guide that is not loaded', SILENT, tagged('http://hl7.org/fhir/us/core/CodeSystem/nowhere'))
add('that is registered for others', SILENT, tagged('http://hl7.org/fhir/sid/nowhere'))
add('that only begins like a known one: Terminology_TX_System_Invalid', FAULT, tagged('http://loinc.org/'))
add('that is a known one without its codes', [], tagged('http://loinc.org'))
const OTHER_SCHEME = `information|informational coding-system-form ${TAG}.system`
add(
  'that is a known one with https: TERMINOLOGY_TX_SYSTEM_HTTPS',
  [OTHER_SCHEME, ...FAULT],
  tagged('https://hl7.org/fhir/administrative-gender'),
)
add(
  'that is one with https, without its codes: TYPE_SPECIFIC_CHECKS_DT_URL_WRONG_HTTPS',
  [OTHER_SCHEME, ...FAULT],
  tagged('https://loinc.org'),
)
add('that is an unknown one with https', SILENT, tagged('https://a.org/nowhere'))
add(
  'in a concept, that is a known one with https',
  [OTHER_SCHEME.replace('meta.tag[0]', 'code.coding[0]'), ...NOT_FOUND],
  coded('https://loinc.org'),
)
add(
  'of the unit of a Quantity with https',
  [
    OTHER_SCHEME.replace('meta.tag[0]', 'extension[0].value.ofType(Quantity)'),
    'error|code-invalid code-system-unknown Basic.extension[0].value.ofType(Quantity)',
  ],
  {
    ...coded('http://loinc.org'),
    extension: [{ url: 'http://example.org/amount', valueQuantity: { value: 1, system: 'https://unitsofmeasure.org', code: 'g' } }],
  },
)
add('that is relative: Terminology_TX_System_Relative', [`error|code-invalid coding-system-form ${TAG}`, ...SILENT], tagged('nowhere'))
add('in a concept that is bound to nothing', NOT_FOUND, coded('http://hl7.org/fhir/nowhere'))
add('of which a version is named: UNKNOWN_CODESYSTEM_VERSION_UNK', NOT_FOUND, coded('http://hl7.org/fhir/nowhere', { version: '1' }))

const system = (name: string, members: JsonObject): JsonObject => ({
  resourceType: 'CodeSystem',
  url: `http://a.org/CodeSystem/${name}`,
  version: '1',
  status: 'active',
  content: 'complete',
  concept: [{ code: 'a' }],
  ...members,
})
const EMPTY = system('empty', { content: 'not-present', concept: undefined })
add('without codes: TERMINOLOGY_TX_SYSTEM_NOT_USABLE', [`information|unknown code-system-unknown ${TAG}`], tagged(String(EMPTY['url'])), [
  EMPTY,
])
const FULL = system('full', {})
add('of a known version', [], tagged(String(FULL['url']), { version: '1' }), [FULL])
add(
  'of another version: TERMINOLOGY_TX_SYSTEM_UNSUPPORTED',
  [`warning|business-rule code-system-version ${TAG}`],
  tagged(String(FULL['url']), { version: '2' }),
  [FULL],
)

const LIBRARY = { resourceType: 'Library', url: 'http://a.org/Library/one', status: 'active', type: { text: 'x' } }
const KIND = (place: string): string => `error|invalid coding-system-form ${place}.system`
const VALUE_SET = 'http://hl7.org/fhir/ValueSet/administrative-gender'
const BOUND = profileOn('Basic', 'http://a.org/StructureDefinition/bound', [
  { id: 'Basic.code', path: 'Basic.code', binding: { strength: 'preferred', valueSet: VALUE_SET } },
])
add(
  'that is a Library, where a value set is expected: TERMINOLOGY_TX_SYSTEM_OTHER_RESOURCE',
  [KIND('Basic.meta.security[0]')],
  labelled(LIBRARY.url),
  [LIBRARY],
)
add('that is a Library, in a bound concept', [KIND('Basic.code.coding[0]')], { ...coded(LIBRARY.url), meta: { profile: [BOUND['url']] } }, [
  LIBRARY,
  BOUND,
])
add('that is a Library, bound to nothing', SILENT, tagged(LIBRARY.url), [LIBRARY])
add('that is a value set', [KIND('Basic.meta.security[0]')], labelled(VALUE_SET))
