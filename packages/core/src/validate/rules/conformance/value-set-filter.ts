import { withoutVersion } from '../../../content/index.js'
import { OperationError, quoted } from '../../../errors/index.js'
import { type FhirNode, parseFhirPath, PENDING } from '../../../fhirpath/index.js'
import { type JsonObject, objectsAt, stringAt } from '../../../json/index.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { isDateTime } from '../primitive/date-time.js'

/** A filter of a ValueSet with a property, operator or value that does not fit the code system. */
export const VALUE_SET_FILTER: FindingDefinition = defineFinding(
  'value-set-filter',
  'error',
  'invalid',
  'Filter by a property of the code system, with an operator and a value that fit it.',
)

/** The data for checking the filters of an include. */
interface FilterRules {
  /** Canonical of the code system. */
  readonly canonical: string
  /** Names of the parameters of the ValueSet. */
  readonly declared: ReadonlySet<string>
}

interface FilterCheck {
  readonly run: Run
  readonly filter: FhirNode
  readonly canonical: string
  readonly name: string
  readonly property: FilterProperty
}

type Severity = Finding['severity']

function say({ run, filter }: Pick<FilterCheck, 'run' | 'filter'>, text: string, severity?: Severity): void {
  run.findings.report(VALUE_SET_FILTER, filter, { text, ...(severity !== undefined && { severity }) })
}

/** Checks that the code system of a filter has its property, that the operator fits the property, and that the value has the property's type. */
export function checkFilter(run: Run, filter: FhirNode, { canonical, declared }: FilterRules): void {
  const system = run.definitions.definition('CodeSystem', canonical)
  const name = textOf(filter, 'property')
  if (system === PENDING || name === undefined) return
  const property = filterProperty(canonical, name, system)
  if (property === undefined) {
    say(
      { run, filter },
      `The property ${quoted(name)} is not known for the code system ${quoted(canonical)}, so the filter may not work.`,
      system === undefined ? 'information' : 'warning',
    )
    return
  }
  const check = { run, filter, canonical, name, property }
  checkOperator(check)
  const value = textOf(filter, 'value')
  const given = expressionOf(run, filter)
  if (value !== undefined && given !== undefined) say(check, 'A filter cannot have both a value and an expression for the value.')
  if (value !== undefined) return checkValue(check, value)
  if (given === undefined) return say(check, 'A filter needs a value, or an expression for the value.')
  const problem = expressionProblem(given.expression, declared)
  if (problem !== undefined) run.findings.report(VALUE_SET_EXPRESSION, filter, { ...problem, at: given.at })
}

function checkOperator(check: FilterCheck): void {
  const operator = textOf(check.filter, 'op')
  const { operators } = check.property
  if (operator !== undefined && operators !== undefined && !operators.includes(operator))
    say(check, `The property ${quoted(check.name)} does not take the operator ${quoted(operator)}, only ${operators.join(', ')}.`)
}

function checkValue(check: FilterCheck, value: string): void {
  const operator = textOf(check.filter, 'op') ?? ''
  const problem = check.run.definitions.filterProblem(check.canonical, { property: check.name, op: operator, value })
  if (problem !== undefined) sayInvalid(check, value, problem)
  if (operator === 'exists') {
    if (value !== 'true' && value !== 'false') say(check, `The value of the operator exists must be true or false, not ${quoted(value)}.`)
  } else if (operator === 'regex') checkRegex(check, value)
  else if (operator === 'in' || operator === 'not-in') for (const one of value.split(',')) checkOne(check, one)
  else {
    if (check.property.type !== '' && check.property.type !== 'string' && value.includes(','))
      say(check, `The value has a comma, which is a part of it: only the operators in and not-in take several values.`, 'information')
    checkOne(check, value)
  }
}

/** Reports a value that the code system cannot read. That a version which is not known here cannot read it, either, is not certain. */
function sayInvalid(check: FilterCheck, value: string, problem: string): void {
  const { run, filter, canonical, name } = check
  const version = filter.parent === undefined ? undefined : textOf(filter.parent, 'version')
  const family = version === undefined ? undefined : run.definitions.codeSystem(`${canonical}|${version}`)
  if (family === PENDING) return
  const isKnown = version === undefined || family?.has(version) === true
  const verdict = isKnown ? 'is' : `may be invalid in ${quoted(version)}, which is not known here; by the rules for all versions it is`
  say(check, `The value ${quoted(value)} for the filter ${name} ${verdict} invalid: ${problem}.`, isKnown ? 'error' : 'warning')
}

function checkRegex(check: FilterCheck, value: string): void {
  if (check.name === 'concept') say(check, 'A regular expression cannot be applied to concepts; apply it to the property code.')
  if (!isRegex(check.run, value)) say(check, `The value ${quoted(value)} is not a valid regular expression.`)
}

/** Whether a pattern is valid, even if it cannot be matched in linear time. */
function isRegex(run: Run, pattern: string): boolean {
  if (run.definitions.pattern(pattern) !== undefined) return true
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** Comparison prefixes of dates and numbers. */
const PREFIX = /^(?:eq|ne|gt|lt|ge|le|sa|eb|ap)/

/** Checks of values by type. They return what a value must be if it is not. */
const FORMS: ReadonlyMap<string, (value: string) => string | undefined> = new Map<string, (value: string) => string | undefined>([
  ['boolean', (value) => (value === 'true' || value === 'false' ? undefined : 'true or false')],
  ['integer', (value) => (/^[+-]?\d+$/.test(value.replace(PREFIX, '')) ? undefined : 'an integer')],
  ['decimal', (value) => (/^[+-]?\d+(?:\.\d+)?$/.test(value.replace(PREFIX, '')) ? undefined : 'a decimal')],
  ['dateTime', (value) => (isDateTime(value.replace(PREFIX, '')) ? undefined : 'a date')],
])

function checkOne(check: FilterCheck, value: string): void {
  const { list, type, codes } = check.property
  const wrong = (what: string, severity?: Severity): void =>
    say(check, `A value of the property ${quoted(check.name)} must be ${what}, not ${quoted(value)}.`, severity)
  if (list !== undefined) return list.includes(value) ? undefined : wrong(`one of ${list.join(', ')}`)
  if (type === 'Coding') return checkCoding(check, value)
  if (type === 'code' && value.trim() !== value) return wrong('a code without white space around it')
  if (type === 'code' && !mayBeCode(check.canonical, value)) return wrong(`a code of ${quoted(check.canonical)}`)
  if (type === 'code' && codes !== undefined) {
    const what = codeProblem(check, check.canonical, value)
    if (what !== undefined) wrong(what, codes)
    return
  }
  const what = FORMS.get(type)?.(value)
  if (what !== undefined) wrong(what)
}

/** Checks a Coding, which is written `system#code`, or `system|version#code` if the version matters. */
function checkCoding(check: FilterCheck, value: string): void {
  const isSearch = /^[a-zA-Z][a-zA-Z0-9+.-]*:[^\s|#]+\|[^\s#]+$/.test(value)
  const mark = isSearch ? value.lastIndexOf('|') : value.lastIndexOf('#')
  if (isSearch) say(check, `The value must be written as system#code; ${quoted(value)} is the form of searches.`, 'warning')
  if (mark < 1) return say(check, `A value of the property ${quoted(check.name)} must be written as system#code, not ${quoted(value)}.`)
  const what = codeProblem(check, value.slice(0, mark), value.slice(mark + 1))
  if (what !== undefined) say(check, `A value of the property ${quoted(check.name)} must be ${what}, not ${quoted(value)}.`)
}

/** The problem with a code; code systems whose content is not completely available are not checked. */
function codeProblem(check: FilterCheck, canonical: string, code: string): string | undefined {
  const [url, version] = canonical.split('|', 2)
  const family = check.run.definitions.codeSystem(canonical)
  const provider = family === PENDING ? undefined : family.provider(version)
  if (provider === undefined || !provider.header.complete) return undefined
  const concept = provider.find(code)
  if (concept === undefined) return `a code of ${quoted(url ?? '')}`
  if (check.property.type === 'code' && provider.status(concept).inactive)
    say(check, `The code ${quoted(code)} of the filter is inactive.`, 'warning')
  return undefined
}

/** The requirements on filters by a property. */
interface FilterProperty {
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
function mayBeCode(canonical: string, code: string): boolean {
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
function filterProperty(system: string, name: string, definition: JsonObject | undefined): FilterProperty | undefined {
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

/** An expression for the value of a filter that cannot be read or used. */
export const VALUE_SET_EXPRESSION: FindingDefinition = defineFinding(
  'value-set-expression',
  'error',
  'exception',
  'Correct the expression.',
)
/** A parameter of a ValueSet that is not used, not documented, or not named as usual. */
export const VALUE_SET_PARAMETER: FindingDefinition = defineFinding(
  'value-set-parameter',
  'warning',
  'business-rule',
  'Use the parameter in a filter, or remove it; document it, and begin its name with p-.',
)

const PARAMETER = 'http://hl7.org/fhir/tools/StructureDefinition/valueset-parameter'
const EXPRESSION = 'http://hl7.org/fhir/StructureDefinition/cqf-expression'

/** Checks the parameters that a ValueSet declares, and that its filters use them. Returns their names. */
export function checkParameters(run: Run, node: FhirNode): ReadonlySet<string> {
  const declared = extensionsOf(run, node, PARAMETER).flatMap((extension) => {
    const name = partOf(run, extension, 'name')
    return name === undefined ? [] : [{ extension, name }]
  })
  const used = new Set(filterExpressions(run, node).flatMap((expression) => parametersIn(textOf(expression, 'expression') ?? '')))
  for (const { extension, name } of declared) {
    const say = (text: string, severity?: 'information'): void =>
      run.findings.report(VALUE_SET_PARAMETER, extension, { text, ...(severity !== undefined && { severity }) })
    if (!used.has(name)) say(`No filter uses the parameter ${quoted(name)}.`)
    if (name.startsWith('p-')) continue
    if (partOf(run, extension, 'documentation') === undefined)
      say(`The parameter ${quoted(name)} has no documentation, so users cannot tell what it means.`)
    say(`The names of parameters should begin with 'p-', not ${quoted(name)}.`, 'information')
  }
  return new Set(declared.map(({ name }) => name))
}

/** The text of a part of an extension, by its url. */
function partOf(run: Run, extension: FhirNode, url: string): string | undefined {
  const [value] = extensionsOf(run, extension, url).flatMap((part) => childrenOf(run, part, 'value'))
  return typeof value?.value === 'string' ? value.value : undefined
}

/** The expression in an extension on the value of a filter, with its position among the extensions. */
function expressionOf(run: Run, filter: FhirNode): { readonly expression: FhirNode; readonly at: string } | undefined {
  const [value] = childrenOf(run, filter, 'value')
  const extensions = value === undefined ? [] : childrenOf(run, value, 'extension')
  const index = extensions.findIndex((extension) => textOf(extension, 'url') === EXPRESSION)
  const [expression] = extensions.slice(index, index + 1).flatMap((extension) => childrenOf(run, extension, 'value'))
  return index < 0 || expression === undefined ? undefined : { expression, at: `extension[${index}].value` }
}

/** The problem with an expression: it is in another language, cannot be parsed, or uses a parameter that is not declared. */
function expressionProblem(expression: FhirNode, declared: ReadonlySet<string>): { text: string; code?: 'invalid' } | undefined {
  const language = textOf(expression, 'language')
  if (language !== 'text/fhirpath')
    return { text: `The language of an expression in a value set must be text/fhirpath, not ${quoted(language ?? '')}.`, code: 'invalid' }
  const text = textOf(expression, 'expression') ?? ''
  const problem = readingProblem(text)
  if (problem !== undefined) return { text: problem }
  const stray = parametersIn(text).find((name) => !declared.has(name))
  return stray === undefined
    ? undefined
    : { text: `The expression uses the parameter ${quoted(stray)}, which the value set does not declare.` }
}

function parametersIn(text: string): readonly string[] {
  return [...text.matchAll(/%(?:`([^`]*)`|([A-Za-z][A-Za-z0-9_-]*))/g)].map(([, delimited, bare]) => delimited ?? bare ?? '')
}

function filterExpressions(run: Run, node: FhirNode): readonly FhirNode[] {
  return ['include', 'exclude']
    .flatMap((part) => childrenOf(run, node, 'compose').flatMap((compose) => childrenOf(run, compose, part)))
    .flatMap((part) => childrenOf(run, part, 'filter'))
    .flatMap((filter) => expressionOf(run, filter)?.expression ?? [])
}

function extensionsOf(run: Run, node: FhirNode, url: string): readonly FhirNode[] {
  return childrenOf(run, node, 'extension').filter((extension) => textOf(extension, 'url') === url)
}

function readingProblem(expression: string): string | undefined {
  try {
    parseFhirPath(expression)
    return undefined
  } catch (error) {
    if (error instanceof OperationError && error.code !== 'too-costly') return `The expression cannot be read: ${error.message}`
    throw error
  }
}
