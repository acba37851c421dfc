import { formatCanonical, type Definition } from '../../content/index.js'
import { extensionAt, isListOf, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { IMPLICIT_RULES, isElementList, isText, wrongMember, type ElementShape } from '../element-shape.js'
import { cached, type Cache, type CacheKind } from '../../context/index.js'
import type { CodeSystemProvider } from '../../code-system/index.js'
import { finished, type Work } from '../../work/index.js'

/** A code that an include lists, with its entry in the value set. */
export interface ListedCode {
  readonly code: string
  /** In the form of `ValueSet.compose.include.concept`. */
  readonly concept: JsonObject
  /** Language of the value set, which is that of its displays. */
  readonly language: string | undefined
}

/** A filter as stated in a value set, perhaps without value. */
interface StatedFilter {
  readonly property: string
  readonly op: string
  readonly value: string | undefined
}

/** An include or exclude. All its conditions must hold. */
export interface PartDefinition {
  readonly system?: string
  readonly version?: string
  readonly concepts?: readonly ListedCode[]
  /** Finds a listed code by its exact spelling. */
  readonly listed: (code: string) => ListedCode | undefined
  /** Returns the listed codes that exist in a code system, by concept. */
  readonly listedIn: (provider: CodeSystemProvider) => ReadonlyMap<number, ListedCode>
  readonly filters: readonly StatedFilter[]
  /** Canonicals of imported value sets, or `#id` of a contained one. */
  readonly imports: readonly string[]
}

/** The content definition of a ValueSet. */
export interface ValueSetDefinition {
  readonly url?: string
  readonly version?: string
  /** `url|version`; `undefined` without url. */
  readonly canonical?: string
  readonly resource: JsonObject
  readonly includes: readonly PartDefinition[]
  readonly excludes: readonly PartDefinition[]
  /** FHIRPath of the first element that does not have the shape and meaning of R4. */
  readonly malformed?: string
  /** True if `compose.inactive` is false. */
  readonly activeOnly: boolean
}

const FILTER_OP = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-ValueSet.compose.include.filter.op'

/** Reads a ValueSet: its compose or, if it has none, the codes of its expansion. */
export function readValueSet(resource: JsonObject): ValueSetDefinition {
  return finished(readingValueSet(resource))
}

/** As `readValueSet`, in steps, for value sets that may have tens of thousands of parts. */
export function* readingValueSet(resource: JsonObject): Work<ValueSetDefinition> {
  const [url, version] = [stringAt(resource, 'url'), stringAt(resource, 'version')]
  const compose = objectAt(resource, 'compose')
  const modified = wrongMember(resource, [IMPLICIT_RULES])
  const malformed = modified === undefined ? yield* malformedPlace(compose ?? {}) : `ValueSet.${modified}`
  return {
    resource,
    includes: compose === undefined ? expansionIncludes(resource) : yield* readParts(resource, 'include'),
    excludes: yield* readParts(resource, 'exclude'),
    activeOnly: compose?.['inactive'] === false,
    ...(url !== undefined && { url, canonical: formatCanonical(url, version) }),
    ...(version !== undefined && { version }),
    ...(malformed !== undefined && { malformed }),
  }
}

/** Returns the name of a value set for messages. */
export function nameOf(valueSet: Pick<ValueSetDefinition, 'canonical'>): string {
  return valueSet.canonical ?? '(unidentified)'
}

/** Number of includes and excludes that are read in one step. */
const PIECE = 500

function* readParts(resource: JsonObject, kind: 'include' | 'exclude'): Work<readonly PartDefinition[]> {
  const sets: PartDefinition[] = []
  for (const element of objectsAt(objectAt(resource, 'compose'), kind)) if (sets.push(readPart(element, resource)) % PIECE === 0) yield
  return sets
}

function readPart(element: JsonObject, resource: JsonObject): PartDefinition {
  const [system, version] = [stringAt(element, 'system'), stringAt(element, 'version')]
  const language = stringAt(resource, 'language')
  const listed = objectsAt(element, 'concept').flatMap((concept) => listedCode(concept, language))
  const imports = element['valueSet']
  return {
    listed: lookupIn(listed),
    listedIn: conceptsListed(listed),
    filters: objectsAt(element, 'filter').map(readFilter),
    imports: Array.isArray(imports) ? imports.filter((item) => typeof item === 'string') : [],
    ...(system !== undefined && { system }),
    ...(version !== undefined && { version }),
    ...(Array.isArray(element['concept']) && { concepts: listed }),
  }
}

function listedCode(concept: JsonObject, language: string | undefined): readonly ListedCode[] {
  const code = stringAt(concept, 'code')
  return code === undefined ? [] : [{ code, concept, language }]
}

/** Reads a filter. An operator that R4 does not have is in an extension on `op`. */
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
  // Of a code that is listed twice, the first entry counts.
  return (code) => (byCode ??= new Map(listed.toReversed().map((entry) => [entry.code, entry]))).get(code)
}

/** Creates the index of listed codes by concept, built once for each version of a code system. */
function conceptsListed(listed: readonly ListedCode[]): PartDefinition['listedIn'] {
  const known = new WeakMap<CodeSystemProvider, ReadonlyMap<number, ListedCode>>()
  return (provider) => {
    const found = known.get(provider) ?? firstEntries(listed.flatMap((entry) => placed(provider, entry)))
    known.set(provider, found)
    return found
  }
}

function firstEntries(placed: readonly [number, ListedCode][]): ReadonlyMap<number, ListedCode> {
  const found = new Map<number, ListedCode>()
  for (const [concept, entry] of placed) if (!found.has(concept)) found.set(concept, entry)
  return found
}

function placed(provider: CodeSystemProvider, entry: ListedCode): readonly [number, ListedCode][] {
  const concept = provider.find(entry.code)
  return concept === undefined ? [] : [[concept, entry]]
}

/**
 * Creates one include for each code system version in the expansion of a value set without compose. Entries without code are ignored, because they only
 * group others.
 */
function expansionIncludes(resource: JsonObject): readonly PartDefinition[] {
  const coded = containedEntries(objectAt(resource, 'expansion')).filter(({ code }) => code !== undefined)
  const bySystem = Map.groupBy(coded, (entry) => formatCanonical(stringAt(entry, 'system') ?? '', stringAt(entry, 'version')))
  return Array.from(bySystem.values(), (concept) => {
    const [first] = concept
    return readPart({ system: first?.['system'], version: first?.['version'], concept }, resource)
  })
}

/** Returns all entries of an expansion at any depth, parents before children. */
function containedEntries(parent: JsonObject | undefined): readonly JsonObject[] {
  const found: JsonObject[] = []
  const open = objectsAt(parent, 'contains').toReversed()
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    found.push(entry)
    for (const inner of objectsAt(entry, 'contains').toReversed()) open.push(inner)
  }
  return found
}

/** True for an expansion that is only a page. */
export function isPage(expansion: JsonObject): boolean {
  const { total = 0, offset = 0 } = expansion
  return offset !== 0 || typeof total !== 'number' || total > containedEntries(expansion).length
}

/** Expected members of an include or exclude. Checked, because for example ignoring a malformed version would select the codes of another version. */
const PART_MEMBERS: ElementShape = [
  ['system', isText],
  ['version', isText],
  ['valueSet', (value) => isListOf(value, isText)],
  ['concept', isElementList],
  ['filter', isElementList],
]

const COMPOSE_MEMBERS: ElementShape = [
  ['inactive', (value) => typeof value === 'boolean'],
  ['include', isElementList],
  ['exclude', isElementList],
]

/** Returns the FHIRPath of the first element of a compose that does not have the shape of R4; `undefined` when all have. */
function* malformedPlace(compose: JsonObject): Work<string | undefined> {
  const broken = wrongMember(compose, COMPOSE_MEMBERS)
  if (broken !== undefined) return `ValueSet.compose.${broken}`
  for (const kind of ['include', 'exclude']) {
    for (const [i, part] of objectsAt(compose, kind).entries()) {
      const place = malformedMember(part)
      if (place !== undefined) return `ValueSet.compose.${kind}[${i}].${place}`
      if (i % PIECE === PIECE - 1) yield
    }
  }
  return undefined
}

function malformedMember(part: JsonObject): string | undefined {
  const broken = wrongMember(part, PART_MEMBERS)
  if (broken !== undefined) return broken
  for (const [i, concept] of objectsAt(part, 'concept').entries()) {
    if (stringAt(concept, 'code') === undefined) return `concept[${i}].code`
    if (wrongMember(concept) !== undefined) return `concept[${i}].modifierExtension`
  }
  const modified = objectsAt(part, 'filter').findIndex((filter) => wrongMember(filter) !== undefined)
  return modified < 0 ? undefined : `filter[${modified}].modifierExtension`
}

/** The extension, and its deprecated form. @see https://hl7.org/fhir/extensions/StructureDefinition-valueset-expansion-parameter.html */
const EXPANSION_PARAMETER: ReadonlySet<string> = new Set([
  'http://hl7.org/fhir/StructureDefinition/valueset-expansion-parameter',
  'http://hl7.org/fhir/tools/StructureDefinition/valueset-expansion-parameter',
])

/** Returns the value of an expansion parameter that a value set states, as text; `undefined` when it states none. */
export function expansionParameterText(resource: JsonObject, name: string): string | undefined {
  const stated = objectsAt(objectAt(resource, 'compose'), 'extension').filter((item) =>
    EXPANSION_PARAMETER.has(stringAt(item, 'url') ?? ''),
  )
  const found = stated.find((item) => textOf(extensionAt(item, 'name')) === name)
  return found === undefined ? undefined : textOf(extensionAt(found, 'value'))
}

function textOf(extension: JsonObject | undefined): string | undefined {
  const value = extension?.['valueCode'] ?? extension?.['valueString'] ?? extension?.['valueBoolean']
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined
}

const SUPPLEMENT = 'http://hl7.org/fhir/StructureDefinition/valueset-supplement'

/** Returns the canonicals of the supplements that a value set requires. */
export function demandedSupplements(valueSet: JsonObject): readonly string[] {
  return objectsAt(valueSet, 'extension')
    .filter((extension) => stringAt(extension, 'url') === SUPPLEMENT)
    .flatMap((extension) => stringAt(extension, 'valueCanonical') ?? stringAt(extension, 'valueUri') ?? [])
}

const BYTES_PER_CODE = 200

/** Returns the content definition of a ValueSet, read once per stored version. */
export function definedValueSet(cache: Cache, definition: Definition): ValueSetDefinition {
  return cached(cache, KIND, definition).valueSet
}

interface CachedValueSet {
  readonly kind: 'value-set'
  readonly valueSet: ValueSetDefinition
}

const KIND: CacheKind<CachedValueSet> = {
  name: 'value-set',
  is: (value): value is CachedValueSet => 'kind' in value && value.kind === 'value-set',
  bytes: ({ valueSet }) => 1_000 + valueSet.includes.reduce((sum, { concepts }) => sum + (concepts?.length ?? 0), 0) * BYTES_PER_CODE,
  make: ({ resource }) => ({ kind: 'value-set', valueSet: readValueSet(resource) }),
}
