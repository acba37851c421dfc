import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import { textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { isDateTime } from '../primitive/date-time.js'
import { filterProperty, mayBeCode, type FilterProperty } from './filter-properties.js'
import { expressionOf, expressionProblem, VALUE_SET_EXPRESSION } from './value-set-parameters.js'

/** A filter of a ValueSet with a property, operator or value that does not fit the code system. */
export const VALUE_SET_FILTER: FindingDefinition = defineFinding(
  'value-set-filter',
  'error',
  'invalid',
  'Filter by a property of the code system, with an operator and a value that fit it.',
)

/** The data for checking the filters of an include. */
export interface FilterRules {
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
  if (problem !== undefined) say(check, `The value ${quoted(value)} for the filter ${check.name} is invalid: ${problem}.`)
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
