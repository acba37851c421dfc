import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'

/** A filter of a ValueSet by a property, an operator or a value that the code system does not have. */
export const VALUE_SET_FILTER: FindingDefinition = defineFinding(
  'value-set-filter',
  'error',
  'invalid',
  'Filter by a property of the code system, with an operator and a value that fit it.',
)

/** Properties that every code system has, with their types. */
const COMMON: ReadonlyMap<string, string> = new Map([
  ['concept', 'code'],
  ['code', 'code'],
  ['display', 'string'],
  ['status', 'code'],
  ['inactive', 'boolean'],
  ['effectiveDate', 'dateTime'],
  ['deprecationDate', 'dateTime'],
  ['retirementDate', 'dateTime'],
  ['notSelectable', 'boolean'],
  ['synonym', 'code'],
  ['comment', 'string'],
  ['itemWeight', 'decimal'],
])
const HIERARCHY: ReadonlySet<string> = new Set(['parent', 'child'])
/** Operators whose value is the value of a property. */
const BY_VALUE: ReadonlySet<string> = new Set(['=', 'in', 'not-in'])
/** Operators on the hierarchy, whose value is a concept. */
const BY_CONCEPT: ReadonlySet<string> = new Set(['is-a', 'descendent-of', 'is-not-a', 'generalizes'])
/** Types of properties; empty where none is declared. */
const MAY_BE_CONCEPT: ReadonlySet<string> = new Set(['', 'code', 'Coding'])
const CONCEPTS: ReadonlySet<string> = new Set(['concept', 'code'])

/** Checks that the code system of a filter has its property, and that the value is of the property's type. */
export function checkFilter(run: Run, filter: FhirNode, canonical: string): void {
  const system = run.definitions.definition('CodeSystem', canonical)
  const property = textOf(filter, 'property')
  if (system === undefined || system === PENDING || property === undefined || !hasProperties(system)) return
  const type = typeOf(system, property)
  if (type === undefined) {
    run.findings.report(VALUE_SET_FILTER, filter, {
      text: `The code system ${quoted(canonical)} has no property ${quoted(property)}, so the filter may not work.`,
      severity: 'warning',
    })
    return
  }
  checkOperator(run, filter, type)
  for (const value of valuesOf(filter)) checkValue(run, filter, { property, type, value, canonical })
}

function checkOperator(run: Run, filter: FhirNode, type: string): void {
  const text = operatorProblem(textOf(filter, 'op') ?? '', type, textOf(filter, 'value'))
  if (text !== undefined) run.findings.report(VALUE_SET_FILTER, filter, { text })
}

/** Only concepts have a hierarchy, and something exists or not. */
function operatorProblem(operator: string, type: string, value: string | undefined): string | undefined {
  if (BY_CONCEPT.has(operator) && !MAY_BE_CONCEPT.has(type))
    return `A property of the type ${type} has no hierarchy for the operator ${quoted(operator)}.`
  if (operator !== 'exists' || value === 'true' || value === 'false') return undefined
  return 'The value of the operator exists must be true or false.'
}

function hasProperties({ content }: JsonObject): boolean {
  return content !== 'not-present' && content !== 'supplement'
}

/** The values that a property is compared with. */
function valuesOf(filter: FhirNode): readonly string[] {
  const operator = textOf(filter, 'op') ?? ''
  const value = textOf(filter, 'value')
  if (value === undefined) return []
  if (operator === '=' || (BY_CONCEPT.has(operator) && CONCEPTS.has(textOf(filter, 'property') ?? ''))) return [value]
  return BY_VALUE.has(operator) ? value.split(',').map((one) => one.trim()) : []
}

function typeOf(system: JsonObject, property: string): string | undefined {
  const declared = objectsAt(system, 'property').find((one) => one['code'] === property)
  if (declared !== undefined) return stringAt(declared, 'type') ?? ''
  if (HIERARCHY.has(property)) return system['hierarchyMeaning'] === undefined ? undefined : 'code'
  return COMMON.get(property) ?? (objectsAt(system, 'filter').some((one) => one['code'] === property) ? '' : undefined)
}

interface FilterValue {
  readonly property: string
  readonly type: string
  readonly value: string
  /** Of the code system. */
  readonly canonical: string
}

function checkValue(run: Run, filter: FhirNode, { property, type, value, canonical }: FilterValue): void {
  const text = valueProblem(run, { property, type, value, canonical })
  if (text !== undefined)
    run.findings.report(VALUE_SET_FILTER, filter, {
      text: `A value of the property ${quoted(property)} must be ${text}, not ${quoted(value)}.`,
    })
}

function valueProblem(run: Run, { property, type, value, canonical }: FilterValue): string | undefined {
  if (type === 'Coding') return codingProblem(run, value)
  return CONCEPTS.has(property) ? codeProblem(run, canonical, value) : FORMS.get(type)?.(value)
}

/** What a value of a type must be, when it is not that. */
const FORMS: ReadonlyMap<string, (value: string) => string | undefined> = new Map<string, (value: string) => string | undefined>([
  ['boolean', (value) => (value === 'true' || value === 'false' ? undefined : 'true or false')],
  ['integer', (value) => (/^(?:[lg][te]|eq|ne)?[+-]?\d+$/.test(value) ? undefined : 'an integer')],
  ['decimal', (value) => (/^[+-]?\d+(?:\.\d+)?$/.test(value) ? undefined : 'a decimal')],
  ['dateTime', (value) => (/^\d{4}(?:-\d\d(?:-\d\d(?:T.+)?)?)?$/.test(value) ? undefined : 'a date')],
])

/** A Coding is written `system#code`, with `|version` after the system where it matters. */
function codingProblem(run: Run, value: string): string | undefined {
  const hash = value.lastIndexOf('#')
  return hash < 1 ? 'written as system#code' : codeProblem(run, value.slice(0, hash), value.slice(hash + 1))
}

/** Nothing is said of code systems that are not here in full. */
function codeProblem(run: Run, canonical: string, code: string): string | undefined {
  const [url, version] = canonical.split('|', 2)
  const family = run.definitions.codeSystem(canonical)
  const provider = family === PENDING ? undefined : family.provider(version)
  if (provider === undefined || !provider.header.complete) return undefined
  return provider.find(code) === undefined ? `a code of ${quoted(url ?? '')}` : undefined
}
