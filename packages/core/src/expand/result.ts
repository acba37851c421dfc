import type {
  Extension,
  ValueSet,
  ValueSetExpansion,
  ValueSetExpansionContains,
  ValueSetComposeIncludeConceptDesignation,
} from 'fhir/r4.js'
import type { Explained } from '../context/index.js'
import { checkResult, OperationError } from '../errors/index.js'
import { explanationExtension } from '../explain/index.js'
import { objectsAt, ownCopy, stringAt, type JsonObject } from '../json/index.js'
import { STANDARDS_STATUS, type ConceptText, type ValueSetDefinition } from '../terminology/index.js'
import { finished, type Work } from '../work/index.js'

/** A property of a code in an expansion: `value` is the name of the `value[x]` element and its value. */
export interface EntryProperty {
  readonly code: string
  readonly uri?: string
  readonly value: readonly [string, unknown]
}

/** One code of an expansion. */
export interface ExpansionEntry {
  readonly system: string
  /** Present only where the value set uses several versions of the system. */
  readonly version?: string
  readonly code: string
  readonly display?: string
  /** True for a concept that only groups others and cannot be selected. */
  readonly abstract: boolean
  /** True for a code that the code system no longer uses. */
  readonly inactive: boolean
  /** Requested designations. */
  readonly designations: readonly ConceptText[]
  /** Requested properties. */
  readonly properties: readonly EntryProperty[]
  readonly extensions: readonly Extension[]
  /** Its child codes, when the expansion is nested. */
  readonly contains: readonly ExpansionEntry[]
}

/** A parameter of an expansion: repeated from the request, or reported about the definitions used. */
export interface ExpansionParameter {
  readonly name: string
  readonly type: 'Boolean' | 'Code' | 'Integer' | 'String' | 'Uri'
  readonly value: string | number | boolean
}

/** The codes of a value set, or a page of them. */
export interface ExpandResult extends Explained {
  readonly valueSet: Pick<ValueSetDefinition, 'url' | 'version' | 'canonical' | 'resource'>
  /** True: `toValueSet` also writes `compose` and `contained` of the value set. Default false. */
  readonly withDefinition?: boolean
  /** `urn:uuid:` and a random UUID. */
  readonly identifier: string
  /** Time of the expansion, as a FHIR instant. */
  readonly timestamp: string
  /** Exact number of matching codes on all pages and levels; absent only for a code system with a grammar, whose codes cannot be counted. */
  readonly total?: number
  /** Number of matching codes before the first of this page. */
  readonly offset: number
  /** Content of `expansion.parameter`. */
  readonly parameters: readonly ExpansionParameter[]
  /** Codes of this page. */
  readonly contains: readonly ExpansionEntry[]
  /** Reasons why more codes may exist than can be listed, `undefined` for a reason that the definition itself states; empty for a complete list. */
  readonly unclosed: readonly (string | undefined)[]
  /** Properties of the entries, and requested ones: code and uri, each once. A stream declares every property that its entries may have. */
  readonly properties: readonly { readonly code: string; readonly uri?: string }[]
}

const LATER = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-ValueSet.expansion'
const UNCLOSED = 'http://hl7.org/fhir/StructureDefinition/valueset-unclosed'

/** Creates the ValueSet that `$expand` returns. Properties of codes are written as extensions, because R4 has no element for them. */
export function toValueSet(result: ExpandResult): ValueSet {
  checkResult('expand', result, 'valueSet')
  return finished(writingValueSet(result))
}

/** As `toValueSet`, in steps, because many codes take time. @throws {OperationError} `too-costly` for very deep nesting. */
export function* writingValueSet(result: ExpandResult): Work<ValueSet> {
  const contains = yield* writingEntries(result.contains)
  return valueSetWith(result, contains)
}

/** Creates the ValueSet of an expansion with these codes. */
export function valueSetWith(result: Omit<ExpandResult, 'contains'>, contains: ValueSetExpansionContains[]): ValueSet {
  const { resource } = result.valueSet
  const [language, url, version, name, title] = TEXTS.map((member) => stringAt(resource, member))
  const extension = definitionExtensions(resource)
  const { experimental } = resource
  return {
    resourceType: 'ValueSet',
    ...(extension.length > 0 && { extension }),
    ...(language !== undefined && { language }),
    ...(url !== undefined && { url }),
    ...(version !== undefined && { version }),
    ...(name !== undefined && { name }),
    ...(title !== undefined && { title }),
    status: statusOf(resource),
    ...(typeof experimental === 'boolean' && { experimental }),
    ...(result.withDefinition === true && definitionOf(resource)),
    expansion: expansionOf(result, contains),
  }
}

/** Members that are copied from the value set's definition. */
const TEXTS = ['language', 'url', 'version', 'name', 'title'] as const

/** Returns `compose`, and the contained resources to which it may refer. */
function definitionOf({ compose, contained }: JsonObject): JsonObject {
  return ownCopy({ ...(contained !== undefined && { contained }), ...(compose !== undefined && { compose }) })
}

const STATUSES = ['draft', 'active', 'retired', 'unknown'] as const

function statusOf(resource: JsonObject): ValueSet['status'] {
  return STATUSES.find((status) => status === resource['status']) ?? 'unknown'
}

function expansionOf(result: Omit<ExpandResult, 'contains'>, contains: ValueSetExpansionContains[]): ValueSetExpansion {
  const { identifier, timestamp, total, offset, parameters, properties, explanation } = result
  const extension = [...unclosed(result.unclosed), ...properties.map(declaredProperty), ...explanationExtension(explanation)]
  return {
    ...(extension.length > 0 && { extension }),
    identifier,
    timestamp,
    ...(total !== undefined && { total }),
    offset,
    ...(parameters.length > 0 && { parameter: parameters.map(({ name, type, value }) => ({ name, [`value${type}`]: value })) }),
    ...(contains.length > 0 && { contains }),
  }
}

/** Copies the extensions, except the standards status: parameters of the expansion report the status of the definitions used. */
function definitionExtensions(resource: JsonObject): Extension[] {
  if (resource['extension'] === undefined) return []
  return objectsAt(resource, 'extension').flatMap((item) => {
    const url = stringAt(item, 'url')
    return url === undefined || url === STANDARDS_STATUS ? [] : [ownCopy({ ...item, url })]
  })
}

const STEPS = 256
/** Maximum nesting of codes. Many JSON parsers fail not much deeper: 1,000 levels are a common limit. */
const MAX_NESTING = 400

function* writingEntries(entries: readonly ExpansionEntry[], level = 1): Work<ValueSetExpansionContains[]> {
  if (level > MAX_NESTING)
    throw new OperationError('too-costly', `The hierarchy has more than ${MAX_NESTING} levels: ask with excludeNested=true.`)
  const written: ValueSetExpansionContains[] = []
  for (const entry of entries) {
    const contains = entry.contains.length === 0 ? [] : yield* writingEntries(entry.contains, level + 1)
    const one = toContains(entry)
    written.push(contains.length > 0 ? { ...one, contains } : one)
    if (written.length % STEPS === 0) yield
  }
  return written
}

/** Creates an item of `ValueSet.expansion.contains` from one code, without its child codes. */
export function toContains(entry: ExpansionEntry): ValueSetExpansionContains {
  const extension = [...ownCopy(entry.extensions), ...entry.properties.map(entryProperty)]
  return {
    ...(extension.length > 0 && { extension }),
    system: entry.system,
    ...(entry.abstract && { abstract: true }),
    ...(entry.inactive && { inactive: true }),
    ...(entry.version !== undefined && { version: entry.version }),
    code: entry.code,
    ...(entry.display !== undefined && { display: entry.display }),
    ...(entry.designations.length > 0 && { designation: entry.designations.map(writeDesignation) }),
  }
}

/** Extensions of designations that are kept. */
const OF_DESIGNATIONS: ReadonlySet<string> = new Set(['http://hl7.org/fhir/StructureDefinition/coding-sctdescid', STANDARDS_STATUS])

function writeDesignation({ value, language, ofResource, use, extension }: ConceptText): ValueSetComposeIncludeConceptDesignation {
  const kept = extension.flatMap((item) => {
    const url = stringAt(item, 'url')
    return url !== undefined && OF_DESIGNATIONS.has(url) ? [ownCopy({ ...item, url })] : []
  })
  return {
    ...(kept.length > 0 && { extension: kept }),
    ...(language !== undefined && ofResource !== true && { language }),
    ...(use !== undefined && { use: ownCopy(use) }),
    value,
  }
}

function entryProperty({ code, value: [name, value] }: EntryProperty): Extension {
  return {
    url: `${LATER}.contains.property`,
    extension: [
      { url: 'code', valueCode: code },
      { url: 'value', [name]: ownCopy(value) },
    ],
  }
}

function declaredProperty({ code, uri }: ExpandResult['properties'][number]): Extension {
  const parts = [{ url: 'code', valueCode: code }, ...(uri === undefined ? [] : [{ url: 'uri', valueUri: uri }])]
  return { url: `${LATER}.property`, extension: parts }
}

function unclosed(reasons: ExpandResult['unclosed']): readonly Extension[] {
  if (reasons.length === 0) return []
  return [
    { url: UNCLOSED, valueBoolean: true },
    ...reasons.flatMap((reason) => (reason === undefined ? [] : [{ url: `${UNCLOSED}-reason`, valueString: reason }])),
  ]
}
