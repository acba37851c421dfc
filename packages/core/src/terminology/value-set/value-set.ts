import { formatCanonical } from '../../content/index.js'
import { extensionAt, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { malformedPlace } from './malformed-place.js'

/** A code that an include lists, with what the value set says about it beside the code system. */
export interface ListedCode {
  readonly code: string
  /** In the form of `ValueSet.compose.include.concept`. */
  readonly concept: JsonObject
}

/** A filter as it stands in a value set, perhaps without value. */
export interface StatedFilter {
  readonly property: string
  readonly op: string
  readonly value: string | undefined
}

/** One include or exclude. All that it states must hold together. */
export interface ConceptSetDefinition {
  readonly system?: string
  readonly version?: string
  readonly concepts?: readonly ListedCode[]
  /** The listed code that is written exactly so. */
  readonly listed: (code: string) => ListedCode | undefined
  readonly filters: readonly StatedFilter[]
  /** Canonicals of imported value sets, or `#id` of a contained one. */
  readonly imports: readonly string[]
}

/** The part of a ValueSet that says which codes it has. */
export interface ValueSetDefinition {
  readonly url?: string
  readonly version?: string
  /** `url|version`; `undefined` without url. */
  readonly canonical?: string
  readonly resource: JsonObject
  readonly includes: readonly ConceptSetDefinition[]
  readonly excludes: readonly ConceptSetDefinition[]
  /** FHIRPath of an element that does not have the shape of R4. */
  readonly malformed?: string
  /** True when `compose.inactive` is false. */
  readonly activeOnly: boolean
}

const FILTER_OP = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-ValueSet.compose.include.filter.op'

/** Reads a ValueSet: its compose, or, when it has none, the codes of the expansion that it carries. */
export function readValueSet(resource: JsonObject): ValueSetDefinition {
  const [url, version] = [stringAt(resource, 'url'), stringAt(resource, 'version')]
  const compose = objectAt(resource, 'compose')
  const malformed = malformedPlace(compose ?? {})
  return {
    resource,
    includes: compose === undefined ? expansionIncludes(resource) : objectsAt(compose, 'include').map(readConceptSet),
    excludes: objectsAt(compose, 'exclude').map(readConceptSet),
    activeOnly: compose?.['inactive'] === false,
    ...(url !== undefined && { url, canonical: formatCanonical(url, version) }),
    ...(version !== undefined && { version }),
    ...(malformed !== undefined && { malformed }),
  }
}

/** How a value set is named in messages. */
export function nameOf(valueSet: Pick<ValueSetDefinition, 'canonical'>): string {
  return valueSet.canonical ?? '(unidentified)'
}

function readConceptSet(element: JsonObject): ConceptSetDefinition {
  const [system, version] = [stringAt(element, 'system'), stringAt(element, 'version')]
  const listed = objectsAt(element, 'concept').flatMap(listedCode)
  const imports = element['valueSet']
  return {
    listed: lookupIn(listed),
    filters: objectsAt(element, 'filter').map(readFilter),
    imports: Array.isArray(imports) ? imports.filter((item) => typeof item === 'string') : [],
    ...(system !== undefined && { system }),
    ...(version !== undefined && { version }),
    ...(Array.isArray(element['concept']) && { concepts: listed }),
  }
}

function listedCode(concept: JsonObject): readonly ListedCode[] {
  const code = stringAt(concept, 'code')
  return code === undefined ? [] : [{ code, concept }]
}

/** An operator that R4 lacks comes in an extension on `op`. */
function readFilter(element: JsonObject): StatedFilter {
  const later = extensionAt(objectAt(element, '_op'), FILTER_OP)
  return {
    property: stringAt(element, 'property') ?? '',
    op: stringAt(later, 'valueCode') ?? stringAt(element, 'op') ?? '',
    value: stringAt(element, 'value'),
  }
}

function lookupIn(listed: readonly ListedCode[]): (code: string) => ListedCode | undefined {
  let byCode: ReadonlyMap<string, ListedCode> | undefined
  return (code) => (byCode ??= new Map(listed.map((entry) => [entry.code, entry]))).get(code)
}

/** One include for each version of each code system in an expansion that a value set carries in place of a compose. */
function expansionIncludes(resource: JsonObject): readonly ConceptSetDefinition[] {
  const entries = [...objectsAt(objectAt(resource, 'expansion'), 'contains')]
  for (const entry of entries) entries.push(...objectsAt(entry, 'contains'))
  const bySystem = Map.groupBy(entries, (entry) => formatCanonical(stringAt(entry, 'system') ?? '', stringAt(entry, 'version')))
  return Array.from(bySystem.values(), (concept) => {
    const [first] = concept
    return readConceptSet({ system: first?.['system'], version: first?.['version'], concept })
  })
}
