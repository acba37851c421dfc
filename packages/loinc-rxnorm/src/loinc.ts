import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { compileRegex } from 'fhir-ops/internal/regex'
import type { CodeSystemProvider, ConceptSet, Filter, ImportedSystem } from 'fhir-ops/terminology'
import { testedSet } from 'fhir-ops/internal/terminology'
import { withValue, listedSystem, valuesOf } from './listed-system.js'
import { canonicalOf } from 'fhir-ops/internal/content'

/** The url of LOINC. */
export const LOINC = 'http://loinc.org'

/** Properties that LOINC's value sets know by another name. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['LIST', 'AnswerList'],
  ['answers-for', 'answers-for'],
])

/** Properties whose value is a part, including those of documents and radiology. */
const PARTS = /^(?:COMPONENT|PROPERTY|TIME_ASPCT|SYSTEM|SCALE_TYP|METHOD_TYP|CLASS|document-[a-z-]+|rad-[a-z-]+)$/

/**
 * Returns the concepts that meet one of LOINC's own filters: `LIST` and `answers-for` return answers, `ancestor` all codes below a code, `copyright` is
 * `LOINC` or `3rdParty`, and a part is named by code or name (`COMPONENT = Glucose`), ignoring case: value sets of R4 use `SCALE_TYP = DOC` for `Doc`.
 *
 * @returns `undefined` for filters that every code system supports.
 * @see https://hl7.org/fhir/R4/loinc.html
 */
function loincFilter(provider: CodeSystemProvider, { property, op, value }: Filter): ConceptSet | undefined {
  const alias = ALIASES.get(property)
  if (alias !== undefined) return op === '=' ? withValue(provider, alias, value) : undefined
  if (property === 'copyright') return op === '=' ? byCopyright(provider, value) : undefined
  if (property === 'ancestor') return belowAny(provider, op, value)
  const accepts = partTest(op, value)
  if (accepts === undefined || !PARTS.test(property)) return undefined
  return testedSet(provider, (concept) => partTexts(provider, concept, property).some(accepts))
}

function belowAny(provider: CodeSystemProvider, op: string, value: string): ConceptSet | undefined {
  if (op !== '=' && op !== 'in') return undefined
  const tops = valuesOf(op, value).flatMap((code) => provider.find(code) ?? [])
  return testedSet(provider, (concept) => tops.some((top) => concept !== top && provider.hierarchy.isWithin(concept, top)))
}

function byCopyright(provider: CodeSystemProvider, value: string): ConceptSet | undefined {
  if (value !== 'LOINC' && value !== '3rdParty') return undefined
  const wanted = value === '3rdParty'
  return testedSet(provider, (concept) => partTexts(provider, concept, 'EXTERNAL_COPYRIGHT_NOTICE').length > 0 === wanted)
}

function partTest(op: string, value: string): ((text: string) => boolean) | undefined {
  if (op === '=' || op === 'in') {
    const wanted = new Set(valuesOf(op, value).map((one) => one.toLowerCase()))
    return (text) => wanted.has(text.toLowerCase())
  }
  if (op !== 'regex') return undefined
  const regex = compileRegex(value)
  return (text) => regex.matchesWhole(text)
}

/** Returns the codes and names of the parts in a property; its text if no part is linked. */
function partTexts(provider: CodeSystemProvider, concept: number, property: string): readonly string[] {
  return provider
    .sources(concept)
    .flatMap((source) => objectsAt(source.concept, 'property'))
    .filter((item) => item['code'] === property)
    .flatMap(({ valueCoding, valueCode, valueString }) =>
      isObject(valueCoding)
        ? [stringAt(valueCoding, 'code') ?? '', stringAt(valueCoding, 'display') ?? '']
        : [valueCode, valueString].filter((text) => typeof text === 'string'),
    )
}

/**
 * LOINC, for `codeSystems` of a context: the versions imported into its `concepts`, with LOINC's filters and the value sets that LOINC
 * defines by url: all codes (`http://loinc.org/vs`), the answers of a list (`/LL...`), the codes below a part (`/LP...`), the codes in
 * a group (`/LG...`).
 *
 * @see https://hl7.org/fhir/R4/loinc.html
 */
export function loinc(): ImportedSystem {
  return listedSystem({
    url: LOINC,
    name: 'LOINC',
    filter: loincFilter,
    implicitVersion(type, canonical) {
      const { url, version } = canonicalOf(canonical)
      if (type !== 'ValueSet' || !VALUE_SET.test(url)) return undefined
      return version === undefined ? {} : { version }
    },
    implicitResource: (_, canonical, provider) => valueSet(canonicalOf(canonical).url, provider),
  })
}

const PREFIX = `${LOINC}/vs`
const VALUE_SET = /^http:\/\/loinc\.org\/vs(?:\/L[LPG][0-9]{1,10}-[0-9])?$/

/** Returns the value set of a url; `undefined` if there is no such list, part or group. */
function valueSet(url: string, provider: CodeSystemProvider): JsonObject | undefined {
  const code = url.slice(PREFIX.length + 1)
  if (code !== '' && provider.find(code) === undefined) return undefined
  const version = provider.header.version ?? ''
  const include = { system: LOINC, version, ...(code !== '' && { filter: [filterFor(code)] }) }
  return { resourceType: 'ValueSet', url, version, status: 'active', compose: { include: [include] } }
}

function filterFor(code: string): JsonObject {
  if (code.startsWith('LL')) return { property: 'LIST', op: '=', value: code }
  if (code.startsWith('LG')) return { property: 'Group', op: '=', value: code }
  return { property: 'concept', op: 'is-a', value: code }
}
