import { createTextNumbers, type TextNumbers, addBit, emptyBits, bitmapOf, rangeBitmap, type Bitmap } from '../../bits/index.js'
import type { OperationContext } from '../../context/index.js'
import { formatCanonical, type Definition } from '../../content/index.js'
import { quoted } from '../../errors/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { IMPLICIT_RULES, unusableElement, wrongMember } from '../element-shape.js'
import { cachedWork, longKind, type CachedKind, memoizeRecent } from '../memo.js'
import type { Work } from '../../work/index.js'
import { conceptIndex, declaredProperties, standardsStatusOf, statusReader, propertyCodes, propertyText } from './concept-index.js'
import type { ConceptStatus, CodeSystemProvider, ConceptSource, Hierarchy, SystemHeader } from '../../code-system/index.js'

const STEPS = 256

/** An upper bound, measured with 350,000 concepts (bench `terminology`): codes, displays, hierarchy and text index. */
const BYTES_PER_CONCEPT = 1_000

const KIND: CachedKind<CodeSystemProvider> = longKind({
  name: 'code-system',
  bytes: ({ index }) => 1_000 + (index?.size ?? 0) * BYTES_PER_CONCEPT,
  make: makeProvider,
})

/** Returns the provider over a CodeSystem resource, created once per stored version. */
export function resourceProvider(ctx: OperationContext, definition: Definition): Promise<CodeSystemProvider> {
  return cachedWork(ctx, KIND, definition)
}

/** Creates the provider over a CodeSystem resource. */
export function* makeProvider(resource: JsonObject): Work<CodeSystemProvider> {
  refuseModified(resource)
  const numbered = yield* numberedConcepts(resource)
  return providerOver(headerOf(resource, numbered), numbered, statusReader(resource))
}

/** Refuses a CodeSystem with modifier extensions or unknown implicit rules. @throws {OperationError} `not-supported` */
export function refuseModified(resource: JsonObject): void {
  const modified = wrongMember(resource, [IMPLICIT_RULES])
  if (modified !== undefined) throw unusableElement(codeSystemName(resource), `CodeSystem.${modified}`)
}

function codeSystemName(resource: JsonObject): string {
  return `The code system ${quoted(formatCanonical(stringAt(resource, 'url') ?? '', stringAt(resource, 'version')))}`
}

/** Concepts by number. Kept closures are created in other functions than the parsed lists, because a closure keeps all variables of its function in memory. */
interface Numbered extends CodeComparison {
  readonly codes: readonly string[]
  readonly concepts: readonly KeptConcept[]
  /** Returns the number of the concept with a code. */
  readonly find: CodeSystemProvider['find']
  readonly hierarchy: Hierarchy
}

/** A concept without its code: only the display for most concepts, which have nothing else, because objects would take half as much memory again. */
type KeptConcept = string | JsonObject | undefined

function* numberedConcepts(resource: JsonObject): Work<Numbered> {
  const list = yield* collectConcepts(resource)
  const { order, hierarchy } = yield* depthFirst(list.parents)
  const codes: string[] = []
  const concepts: KeptConcept[] = []
  const keys = createTextNumbers()
  for (const old of order) {
    const concept = list.concepts[old] ?? {}
    const code = stringAt(concept, 'code') ?? ''
    keys.add(keyOf(code, list.caseSensitive))
    codes.push(code)
    concepts.push(keptOf(concept))
    if (concepts.length % STEPS === 0) yield
  }
  return { codes, concepts, find: finderOf(keys, list), hierarchy, caseSensitive: list.caseSensitive }
}

function finderOf(keys: TextNumbers, { caseSensitive }: CodeComparison): Numbered['find'] {
  return (code) => keys.find(keyOf(code, caseSensitive))
}

/** The members of a concept with only code and display; nested concepts are in the hierarchy. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set(['code', 'display', 'concept'])

function keptOf(concept: JsonObject): KeptConcept {
  for (const name in concept) if (!PLAIN_MEMBERS.has(name)) return withoutNested(concept)
  const display = concept['display']
  return display === undefined || typeof display === 'string' ? display : withoutNested(concept)
}

/** Removes nested concepts, because otherwise each concept would keep all its descendants in memory. */
function withoutNested(concept: JsonObject): JsonObject {
  if (concept['concept'] === undefined) return concept
  const { concept: _nested, ...own } = concept
  return own
}

function providerOver(
  header: SystemHeader,
  { codes, concepts, find, hierarchy }: Numbered,
  readStatus: (concept: JsonObject) => ConceptStatus,
): CodeSystemProvider {
  const conceptOf = (number: number): JsonObject => {
    const kept = concepts[number]
    if (typeof kept === 'object') return kept
    const code = codes[number] ?? ''
    return kept === undefined ? { code } : { code, display: kept }
  }
  const status = (number: number): ConceptStatus => readStatus(conceptOf(number))
  const { language } = header
  const sources = (number: number): readonly ConceptSource[] =>
    language === undefined ? [{ concept: conceptOf(number) }] : [{ concept: conceptOf(number), language }]
  return {
    header,
    supplements: [],
    find,
    code: (number) => codes[number] ?? '',
    sources,
    status,
    hierarchy,
    index: conceptIndex({ size: concepts.length, sources, status }),
  }
}

/** The rule by which codes of a system are compared. */
interface CodeComparison {
  readonly caseSensitive: boolean
}

/** Returns the key by which codes are compared. */
function keyOf(code: string, caseSensitive: boolean): string {
  return caseSensitive ? code : code.toLowerCase()
}

function headerOf(resource: JsonObject, { caseSensitive }: CodeComparison): SystemHeader {
  const [version, name, language] = ['version', 'name', 'language'].map((member) => stringAt(resource, member))
  const standardsStatus = standardsStatusOf(resource)
  const content = stringAt(resource, 'content')
  return {
    url: stringAt(resource, 'url') ?? '',
    status: stringAt(resource, 'status') ?? 'unknown',
    experimental: resource['experimental'] === true,
    complete: content !== 'fragment' && content !== 'example',
    caseSensitive,
    versionNeeded: resource['versionNeeded'] === true,
    ...declaredProperties(resource),
    ...(OTHER_RELATIONS.has(stringAt(resource, 'hierarchyMeaning')) && { subsumes: false }),
    ...(version !== undefined && { version }),
    ...(name !== undefined && { name }),
    ...(language !== undefined && { language }),
    ...(standardsStatus !== undefined && { standardsStatus }),
  }
}

/** Hierarchy meanings for which a child is not a kind of its parent. @see https://hl7.org/fhir/R4/valueset-codesystem-hierarchy-meaning.html */
const OTHER_RELATIONS: ReadonlySet<string | undefined> = new Set(['grouped-by', 'part-of'])

/** The concepts of a CodeSystem in the order of definition. */
interface ConceptList extends CodeComparison {
  readonly concepts: readonly JsonObject[]
  /** For each concept, the positions of its parents, by nesting and by the properties `parent` and `child`. */
  readonly parents: readonly number[][]
}

/**
 * Lists the concepts of a CodeSystem, each code once; a repeated code only adds a parent.
 *
 * @param caseSensitive Whether case matters. When not stated, it does not, unless two codes differ only in case.
 * @see https://hl7.org/fhir/R4/codesystem-definitions.html#CodeSystem.caseSensitive
 */
function* collectConcepts(resource: JsonObject, caseSensitive: unknown = resource['caseSensitive']): Work<ConceptList> {
  const isCaseSensitive = caseSensitive === true
  const keys = createTextNumbers()
  const concepts: JsonObject[] = []
  const parents: number[][] = []
  const open: OpenList[] = [{ list: objectsAt(resource, 'concept'), next: 0, parent: -1 }]
  for (let nested = nextOf(open); nested !== undefined; nested = nextOf(open)) {
    const { concept, parent } = nested
    const code = stringAt(concept, 'code')
    if (wrongMember(concept) !== undefined) throw unusableElement(codeSystemName(resource), 'CodeSystem.concept.modifierExtension')
    if (code === undefined) continue
    const place = keys.add(keyOf(code, isCaseSensitive))
    if (place === concepts.length) {
      concepts.push(concept)
      parents.push([])
    }
    if (caseSensitive !== false && concepts[place]?.['code'] !== code) return yield* collectConcepts(resource, true)
    if (parent >= 0) addParent(parents, place, parent)
    if (concept['concept'] !== undefined) open.push({ list: objectsAt(concept, 'concept'), next: 0, parent: place })
    if (concepts.length % STEPS === 0) yield
  }
  const list = { concepts, parents, caseSensitive: isCaseSensitive }
  yield* addNamedParents(resource, list, finderOf(keys, list))
  return list
}

/** Sibling concepts, and the number of visited ones. */
interface OpenList {
  readonly list: readonly JsonObject[]
  next: number
  readonly parent: number
}

interface Nested {
  readonly concept: JsonObject
  readonly parent: number
}

function nextOf(open: OpenList[]): Nested | undefined {
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const concept = top.list[top.next++]
    if (concept !== undefined) return { concept, parent: top.parent }
    open.pop()
  }
  return undefined
}

/** Adds the parents that the properties `parent` and `child` name. */
function* addNamedParents(resource: JsonObject, { concepts, parents }: ConceptList, find: Numbered['find']): Work<void> {
  const parentCodes = propertyCodes(resource, 'parent')
  const childCodes = propertyCodes(resource, 'child')
  for (const [place, concept] of concepts.entries()) {
    if (place % STEPS === 0) yield
    if (concept['property'] === undefined) continue
    for (const property of objectsAt(concept, 'property')) {
      const code = stringAt(property, 'code') ?? ''
      if (parentCodes.includes(code)) addParent(parents, place, find(propertyText(property) ?? ''))
      if (childCodes.includes(code)) addParent(parents, find(propertyText(property) ?? ''), place)
    }
  }
}

function addParent(parents: readonly number[][], place: number | undefined, parent: number | undefined): void {
  const list = place === undefined ? undefined : parents[place]
  if (list === undefined || parent === undefined || parent === place || list.includes(parent)) return
  list.push(parent)
}

/** A depth-first numbering of concepts. */
interface DepthFirst {
  /** The old number by new number. */
  readonly order: Uint32Array
  readonly hierarchy: Hierarchy
}

/**
 * Numbers concepts depth first by their first parent, and keeps all parents. Concepts of a cycle that no root leads to are numbered in
 * their order, so that each concept has a number.
 *
 * @param parents By concept, the numbers of its parents, best first.
 */
export function* depthFirst(parents: readonly (readonly number[])[]): Work<DepthFirst> {
  const children = yield* childrenOf(parents)
  const walk = yield* numbered(parents, children)
  const up = yield* renumbered(parents, walk)
  const down = yield* renumbered(children, walk)
  return { order: walk.order, hierarchy: hierarchyOf(up, down, { size: parents.length, ends: walk.end, many: walk.many }) }
}

interface Walk {
  readonly order: Uint32Array
  /** The new number of each old number. */
  readonly place: Uint32Array
  /** For each new number, the end of the range of descendants found at first visits. */
  readonly end: Uint32Array
  /** True if a concept can be reached on two paths. */
  many: boolean
  next: number
}

const NONE: readonly number[] = []

function* childrenOf(parents: readonly (readonly number[])[]): Work<readonly (readonly number[])[]> {
  const children: number[][] = []
  while (children.length < parents.length) {
    children.push([])
    if (children.length % STEPS === 0) yield
  }
  for (const [concept, list] of parents.entries()) {
    for (const parent of list) children[parent]?.push(concept)
    if (concept % STEPS === 0) yield
  }
  return children
}

function* numbered(parents: readonly (readonly number[])[], children: readonly (readonly number[])[]): Work<Walk> {
  const size = parents.length
  const walk: Walk = {
    order: new Uint32Array(size),
    place: new Uint32Array(size).fill(size),
    end: new Uint32Array(size),
    many: parents.some((list) => list.length > 1),
    next: 0,
  }
  for (let root = 0; root < size; root++) if (parents[root]?.length === 0) yield* visit(root, children, walk)
  for (let rest = 0; rest < size; rest++) if (walk.place[rest] === size) yield* visit(rest, children, walk)
  return walk
}

function* visit(root: number, children: readonly (readonly number[])[], walk: Walk): Work<void> {
  const open = [enter(root, walk)]
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const child = children[top.concept]?.[top.next++]
    if (child === undefined) {
      walk.end[walk.place[top.concept] ?? 0] = walk.next
      open.pop()
    } else if (walk.place[child] === walk.place.length) open.push(enter(child, walk))
    else walk.many = true
    if (walk.next % STEPS === 0) yield
  }
}

function enter(concept: number, walk: Walk): { readonly concept: number; next: number } {
  walk.order[walk.next] = concept
  walk.place[concept] = walk.next++
  return { concept, next: 0 }
}

/** Renumbers the lists, each in ascending order; returns an empty list if all are empty. */
function* renumbered(lists: readonly (readonly number[])[], { order, place }: Walk): Work<readonly (readonly number[])[]> {
  if (lists.every((list) => list.length === 0)) return []
  const result: (readonly number[])[] = []
  for (const old of order) {
    const list = lists[old] ?? NONE
    result.push(list.length === 0 ? NONE : list.map((other) => place[other] ?? 0).sort((a, b) => a - b))
    if (result.length % STEPS === 0) yield
  }
  return result
}

/** The parts of a walk that are kept. */
interface Walked extends Pick<Walk, 'many'> {
  readonly size: number
  readonly ends: Walk['end']
}

function hierarchyOf(up: readonly (readonly number[])[], down: readonly (readonly number[])[], { size, ends, many }: Walked): Hierarchy {
  const end = (concept: number): number => ends[concept] ?? 0
  const inRange = (concept: number, ancestor: number): boolean => ancestor <= concept && concept < end(ancestor)
  const parents = (concept: number): readonly number[] => up[concept] ?? NONE
  const children = (concept: number): readonly number[] => down[concept] ?? NONE
  return {
    nested: down.some((list) => list.length > 0),
    parents,
    children,
    isWithin: (concept, ancestor) => inRange(concept, ancestor) || (many && reaches(concept, parents, (found) => inRange(found, ancestor))),
    within: many
      ? memoizeRecent(KEPT_BRANCHES, (ancestor) => reachable(ancestor, children, size))
      : (ancestor) => rangeBitmap(ancestor, end(ancestor), size),
    above: (concept) => reachable(concept, parents, size),
  }
}

/** Number of cached branches, such as those of value sets in use. */
const KEPT_BRANCHES = 64

function reaches(start: number, next: (concept: number) => readonly number[], accept: (concept: number) => boolean): boolean {
  const seen = new Set([start])
  for (const concept of seen) {
    if (accept(concept)) return true
    for (const other of next(concept)) seen.add(other)
  }
  return false
}

function reachable(start: number, next: (concept: number) => readonly number[], size: number): Bitmap {
  const words = emptyBits(size)
  const open = [start]
  addBit(words, start)
  const found = bitmapOf(words, size)
  for (let concept = open.pop(); concept !== undefined; concept = open.pop()) {
    for (const other of next(concept)) {
      if (found.has(other)) continue
      addBit(words, other)
      open.push(other)
    }
  }
  return bitmapOf(words, size)
}
