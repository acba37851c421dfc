import { withoutVersion } from '../../../content/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../../json/index.js'

/** The requirements on filters by a property. */
export interface FilterProperty {
  /** `code`, `Coding`, `boolean`, `integer`, `decimal`, `dateTime`, `string`; empty when it is not known. */
  readonly type: string
  /** The severity of a value that is not a code of the code system; absent if values may be other codes. */
  readonly codes?: 'error' | 'warning'
  /** All possible values. */
  readonly list?: readonly string[]
  /** The operators that the property takes; absent if it takes any. */
  readonly operators?: readonly string[]
}

const ON_CONCEPTS = ['=', 'in', 'is-a', 'descendent-of', 'is-not-a', 'generalizes', 'not-in']

/** Properties by which every code system can be filtered. */
const COMMON: ReadonlyMap<string, FilterProperty> = new Map<string, FilterProperty>([
  ['concept', { type: 'code', codes: 'error', operators: ON_CONCEPTS }],
  ['code', { type: 'code', codes: 'error', operators: ['regex', ...ON_CONCEPTS] }],
  ['status', { type: 'code' }],
  ['inactive', { type: 'boolean' }],
  ['effectiveDate', { type: 'dateTime' }],
  ['deprecationDate', { type: 'dateTime' }],
  ['retirementDate', { type: 'dateTime' }],
  ['notSelectable', { type: 'boolean' }],
  ['synonym', { type: 'code' }],
  ['comment', { type: '' }],
  ['itemWeight', { type: 'decimal' }],
])
const HIERARCHY: ReadonlySet<string> = new Set(['parent', 'child', 'partOf'])
const OF_CODES: FilterProperty = { type: 'code', codes: 'error' }
const VALUES = ['=', 'exists', 'regex', 'in', 'not-in']

/**
 * Properties of code systems that FHIR describes on pages of their own.
 *
 * @see https://hl7.org/fhir/R4/terminologies-systems.html
 */
const DESCRIBED: ReadonlyMap<string, (name: string) => FilterProperty | undefined> = new Map<
  string,
  (name: string) => FilterProperty | undefined
>([
  ['http://snomed.info/sct', snomed],
  ['http://loinc.org', loinc],
  [
    'http://www.nlm.nih.gov/research/umls/rxnorm',
    (name) => (/^[A-Z]{2,5}$/.test(name) && RXNORM.has(name) ? { type: '' } : COMMON.get(name)),
  ],
  ['http://unitsofmeasure.org', (name) => (name === 'property' || name === 'canonical' ? { type: '' } : COMMON.get(name))],
  [
    'urn:ietf:bcp:47',
    (name) =>
      ['language', 'region', 'script', 'variant', 'extension', 'ext-lang', 'private-use'].includes(name) ? { type: '' } : COMMON.get(name),
  ],
  ['http://www.ama-assn.org/go/cpt', cpt],
])

function snomed(name: string): FilterProperty | undefined {
  if (name === 'constraint') return { type: '', operators: ['='] }
  if (name === 'expressions' || name === 'inactive') return { type: 'boolean', operators: ['=', 'in'] }
  if (name === 'concept') return { ...OF_CODES, operators: ['is-a', 'is-not-a', 'in', 'descendent-of', 'descendent-leaf'] }
  if (name === 'expression') return { type: '' }
  return isConceptId(name) ? { ...OF_CODES, operators: ['=', 'in'] } : undefined
}

/** The form of codes, for code systems whose content may not be available. */
const CODE_FORMS: ReadonlyMap<string, (code: string) => boolean> = new Map([['http://snomed.info/sct', isConceptId]])

/** Whether a text can be a code of a code system, judging by its form. */
export function mayBeCode(canonical: string, code: string): boolean {
  return CODE_FORMS.get(withoutVersion(canonical))?.(code) !== false
}

function isConceptId(text: string): boolean {
  return /^\d{3,15}[01]0\d$/.test(text) && hasCheckDigit(text)
}

const PERMUTATION = '1576283094'

/** Whether the check digit of a SNOMED CT identifier is right (Verhoeff). Attributes are concepts, whose identifiers have 00 or 10 before that digit. */
function hasCheckDigit(digits: string): boolean {
  let check = 0
  for (const [place, text] of Array.from(digits).toReversed().entries()) {
    let digit = Number(text)
    for (let round = 0; round < place % 8; round++) digit = Number(PERMUTATION.charAt(digit))
    check = product(check, digit)
  }
  return check === 0
}

/** The product in the dihedral group of ten elements. */
function product(one: number, other: number): number {
  const turn = one < 5 ? one + other : one - other + 10
  return (turn % 5) + (one < 5 === other < 5 ? 0 : 5)
}

const LOINC_CODES: ReadonlySet<string> = new Set(
  'ancestor descendent parent child COMPONENT PROPERTY TIME_ASPCT SYSTEM SCALE_TYP METHOD_TYP CLASS answer-list MAP_TO category'.split(' '),
)
const LOINC_TEXTS: ReadonlySet<string> = new Set(
  (
    'VersionLastChanged CHNG_TYPE DefinitionDescription CLASSTYPE FORMULA EXMPL_ANSWERS SURVEY_QUEST_TEXT SURVEY_QUEST_SRC UNITSREQUIRED ' +
    'ORDER_OBS HL7_FIELD_SUBFIELD_ID EXTERNAL_COPYRIGHT_NOTICE EXAMPLE_UNITS EXAMPLE_UCUM_UNITS STATUS_REASON STATUS_TEXT ' +
    'CHANGE_REASON_PUBLIC COMMON_TEST_RANK COMMON_ORDER_RANK HL7_ATTACHMENT_STRUCTURE EXTERNAL_COPYRIGHT_LINK PanelType ' +
    'AskAtOrderEntry AssociatedObservations VersionFirstReleased ValidHL7AttachmentRequest STATUS'
  ).split(' '),
)

function loinc(name: string): FilterProperty | undefined {
  if (name === 'STATUS')
    return { type: '', list: ['ACTIVE', 'TRIAL', 'DISCOURAGED', 'DEPRECATED'], operators: ['=', 'regex', 'in', 'not-in', 'exists'] }
  if (name === 'copyright') return { type: '', list: ['LOINC', '3rdParty'], operators: ['=', 'regex', 'in', 'not-in', 'exists'] }
  if (LOINC_CODES.has(name) || LOINC_PARTS.test(name)) return { ...OF_CODES, operators: VALUES }
  if (name === 'concept' || name === 'code') return { type: 'code', operators: ['=', 'is-a', 'is-not-a', 'in', 'not-in', 'descendent-of'] }
  if (LOINC_TEXTS.has(name)) return { type: '', operators: VALUES }
  return name === 'LIST' || name === 'answers-for' || name === 'answer' ? { type: '' } : COMMON.get(name)
}

/** Attributes of LOINC's parts: analyte, time, system, radiology and documents. */
const LOINC_PARTS = /^(?:analyte|challenge|adjustment|count|time|system|super-system|search|rad|document)(?:-[a-z]+)*$/

const RXNORM: ReadonlySet<string> = new Set(
  'STY SAB TTY SY SIB RN PAR CHD RB RO IN PIN MIN BN SCD SBD GPCK BPCK SCDC SCDF SCDFP SCDG SCDGP SBDC SBDF SBDFP SBDG DF DFG'.split(' '),
)

function cpt(name: string): FilterProperty | undefined {
  if (['modifier', 'modified', 'telemedicine', 'orthopox'].includes(name)) return { type: 'boolean' }
  return name === 'kind' ? { type: 'code' } : COMMON.get(name)
}

/**
 * The requirements on filters of a code system by a property; `undefined` if the code system does not have the property.
 *
 * @param definition The CodeSystem, if it is known.
 */
export function filterProperty(system: string, name: string, definition: JsonObject | undefined): FilterProperty | undefined {
  const described = DESCRIBED.get(system)
  if (described !== undefined) return described(name) ?? (definition && declared(definition, name))
  return (definition && declared(definition, name)) ?? COMMON.get(name)
}

function declared(definition: JsonObject, name: string): FilterProperty | undefined {
  const filter = objectsAt(definition, 'filter').find((one) => one['code'] === name)
  const operators: unknown = filter?.['operator']
  const stated = Array.isArray(operators) ? operators.filter((one) => typeof one === 'string') : []
  const property = objectsAt(definition, 'property').find((one) => one['code'] === name)
  const base = property === undefined ? inherited(definition, name) : typed(stringAt(property, 'type') ?? '')
  if (filter === undefined) return base
  return { ...(base ?? { type: '' }), ...(stated.length > 0 && { operators: [...stated, ...(base?.operators ?? [])] }) }
}

/** Types of values without a hierarchy. */
const FLAT: ReadonlySet<string> = new Set(['boolean', 'integer', 'decimal', 'dateTime'])

function typed(type: string): FilterProperty {
  if (type === 'code') return { type, codes: 'warning' }
  return FLAT.has(type) ? { type, operators: VALUES } : { type }
}

function inherited(definition: JsonObject, name: string): FilterProperty | undefined {
  if (HIERARCHY.has(name)) return definition['hierarchyMeaning'] === undefined ? undefined : OF_CODES
  return COMMON.get(name)
}
