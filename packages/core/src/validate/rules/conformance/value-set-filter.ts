import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'

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

/** Checks that the code system of a filter has its property, and that the value is of the property's type. */
export function checkFilter(run: Run, filter: FhirNode, canonical: string): void {
  const system = run.facts.definition('CodeSystem', canonical)
  const property = textOf(filter, 'property')
  if (system === undefined || system === PENDING || property === undefined || !hasProperties(system)) return
  const type = typeOf(system, property)
  if (type === undefined) {
    run.sink.report('value-set-filter', filter, {
      text: `The code system ${quoted(canonical)} has no property ${quoted(property)}, so the filter may not be understood.`,
      severity: 'warning',
    })
    return
  }
  for (const value of valuesOf(filter)) checkValue(run, filter, { property, type, value })
}

function hasProperties({ content }: JsonObject): boolean {
  return content !== 'not-present' && content !== 'supplement'
}

/** The values that a property is compared with. */
function valuesOf(filter: FhirNode): readonly string[] {
  const operator = textOf(filter, 'op') ?? ''
  const value = textOf(filter, 'value')
  if (value === undefined || !BY_VALUE.has(operator)) return []
  return operator === '=' ? [value] : value.split(',').map((one) => one.trim())
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
}

function checkValue(run: Run, filter: FhirNode, { property, type, value }: FilterValue): void {
  const text = type === 'Coding' ? codingProblem(run, value) : FORMS.get(type)?.(value)
  if (text !== undefined)
    run.sink.report('value-set-filter', filter, {
      text: `A value of the property ${quoted(property)} must be ${text}, not ${quoted(value)}.`,
    })
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
  if (hash < 1) return undefined
  const [url = '', version] = value.slice(0, hash).split('|', 2)
  const family = run.facts.codeSystem(version === undefined ? url : `${url}|${version}`)
  const provider = family === PENDING ? undefined : family.provider(version)
  if (provider === undefined || !provider.header.complete) return undefined
  return provider.find(value.slice(hash + 1)) === undefined ? `a code of ${quoted(url)}` : undefined
}
