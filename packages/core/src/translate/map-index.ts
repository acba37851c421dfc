import { createNumbers, createTextNumbers, type Numbers, type TextNumbers } from '../bits/index.js'
import { formatCanonical, type Definition } from '../content/index.js'
import type { OperationContext } from '../context/index.js'
import { quoted } from '../errors/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import {
  cachedWork,
  longKind,
  type CachedKind,
  isElementList,
  isText,
  NO_IMPLICIT_RULES,
  wrongMember,
  type ElementShape,
} from '../terminology/index.js'
import { finished, sharedWork, type Work } from '../work/index.js'

/** What a ConceptMap states of itself. */
export interface MapHead {
  readonly url: string | undefined
  readonly version: string | undefined
  /** `url|version`; `undefined` without a url. */
  readonly canonical: string | undefined
  /** Canonical of the value set that the map translates from. */
  readonly source: string | undefined
  /** Canonical of the value set that the map translates into. */
  readonly target: string | undefined
}

/** A ConceptMap indexed for lookups by code. */
export interface MapIndex extends MapHead {
  readonly groups: readonly GroupIndex[]
  /** The maps that it contains, by `#id`. A contained map, which contains none itself, may refer to the others. */
  readonly contained: ReadonlyMap<string, MapIndex>
  /** FHIRPath of the first element that does not have the shape of R4; `translate` refuses such a map. */
  readonly malformed: string | undefined
}

/** One group of a map: all mappings from one system to another. */
export interface GroupIndex {
  /** FHIRPath of the group in its map: `ConceptMap.group[0]`. */
  readonly path: string
  /** Number of source codes. */
  readonly elements: number
  readonly forward: Direction
  /** From target to source; indexed when first used. */
  readonly backward: Direction
  readonly unmapped: JsonObject | undefined
}

/** A group's mappings seen from one of its two sides. */
export interface Direction {
  /** System of the codes to look up; `undefined` when the map does not state it. */
  readonly from: string | undefined
  readonly fromVersion: string | undefined
  readonly to: string | undefined
  readonly toVersion: string | undefined
  /** Builds the index that `find` and `codes` need, in steps, so that other work can run in between; absent where it is already built. */
  readonly build?: () => Work<unknown>
  /** Returns all mappings of a code, in the map's order. */
  readonly find: (code: string) => readonly Mapping[]
  /** Returns all codes that have a mapping. */
  readonly codes: () => Iterable<string>
}

/** One target of one element. */
export interface Mapping {
  /** The element, perhaps without its list of targets. */
  readonly element: JsonObject
  readonly target: JsonObject
}

const KIND: CachedKind<MapIndex> = longKind({
  name: 'concept-map',
  bytes: (index) =>
    [index, ...index.contained.values()]
      .flatMap(({ groups }) => groups)
      .reduce((sum, { elements }) => sum + BYTES_PER_ELEMENT * elements, 1_000),
  make: indexOf,
})

/** An upper bound: measured with 100,000 elements of one target and two displays each, with the parsed map kept beside both directions. */
const BYTES_PER_ELEMENT = 500

/** Returns the index of a map, which is built once per stored version. */
export function mapIndex(ctx: OperationContext, definition: Definition): Promise<MapIndex> {
  return cachedWork(ctx, KIND, definition)
}

function* indexOf(map: JsonObject, contained = new Map<string, MapIndex>()): Work<MapIndex> {
  for (const inner of objectsAt(map, 'contained').filter(isMap))
    contained.set(`#${stringAt(inner, 'id')}`, yield* indexOf({ ...inner, contained: undefined }, contained))
  const groups: GroupIndex[] = []
  for (const [i, group] of objectsAt(map, 'group').entries())
    groups.push({ path: `ConceptMap.group[${i}]`, ...groupIndex(group, yield* elementsBySource(group)) })
  return { ...mapHead(map), groups, contained, malformed: yield* malformedPlace(map) }
}

/** True for a ConceptMap. */
export function isMap(resource: unknown): resource is JsonObject {
  return isObject(resource) && resource['resourceType'] === 'ConceptMap'
}

/** Names a map in a message. */
export function shownMap({ canonical = '(unidentified)' }: MapHead): string {
  return `ConceptMap ${quoted(canonical)}`
}

/** Reads what a map states of itself, which takes no list of mappings. */
export function mapHead(map: JsonObject): MapHead {
  const url = stringAt(map, 'url')
  const version = stringAt(map, 'version')
  return {
    url,
    version,
    canonical: url === undefined ? undefined : formatCanonical(url, version),
    source: stringAt(map, 'sourceCanonical') ?? stringAt(map, 'sourceUri'),
    target: stringAt(map, 'targetCanonical') ?? stringAt(map, 'targetUri'),
  }
}

function groupIndex(group: JsonObject, elements: Elements): Omit<GroupIndex, 'path'> {
  const [source, sourceVersion] = systemOf(group, 'source')
  const [target, targetVersion] = systemOf(group, 'target')
  return {
    elements: elements.codes.texts.length,
    forward: { from: source, fromVersion: sourceVersion, to: target, toVersion: targetVersion, ...forward(elements) },
    backward: { from: target, fromVersion: targetVersion, to: source, toVersion: sourceVersion, ...backward(elements) },
    unmapped: objectAt(group, 'unmapped'),
  }
}

/** Reads a system of a group and its version, which R5 writes after the url: `url|version`. */
function systemOf(group: JsonObject, side: 'source' | 'target'): readonly [url: string | undefined, version: string | undefined] {
  const [url, version] = stringAt(group, side)?.split('|') ?? []
  return [url, stringAt(group, `${side}Version`) ?? (version || undefined)]
}

type Lookups = Pick<Direction, 'build' | 'find' | 'codes'>

/** A separate function, because closures that are created in the same function keep all its variables in memory, here the parsed group. */
function forward(elements: Elements): Lookups {
  return { find: (code) => mappingsOf(elements, code), codes: () => elements.codes.texts }
}

function backward(elements: Elements): Lookups {
  const byTarget = sharedWork(() => sourcesByTarget(elements))
  return {
    build: byTarget,
    find: (code) => mappingsTo(elements, code, finished(byTarget()).get(code)),
    codes: () => finished(byTarget()).keys(),
  }
}

const STEPS = 256

/**
 * The elements of a group, by number. Most have one target, with only code, equivalence and displays: for these only the texts are kept, because the
 * parsed objects take five times as much memory.
 */
interface Elements {
  readonly codes: TextNumbers
  /** The first element of each code. */
  readonly first: Numbers
  /** All elements of the codes that have more than one, by number of the code. */
  readonly several: Map<number, number[]>
  /** For each element, the code of its only target, or the whole element. */
  readonly targets: (string | JsonObject)[]
  /** For each element, the equivalence of its only target, as its number among the `kinds`. */
  readonly equivalences: Numbers
  readonly kinds: TextNumbers
  readonly displays: Displays
  readonly targetDisplays: Displays
}

/** Displays by number of the element; a sparse list. */
type Displays = string[]

function* elementsBySource(group: JsonObject): Work<Elements> {
  const found = noElements()
  for (const [i, element] of objectsAt(group, 'element').entries()) {
    if (i % STEPS === 0) yield
    const code = stringAt(element, 'code')
    if (code === undefined) continue
    addElement(found, element)
    addCode(found, code, found.targets.length - 1)
  }
  return found
}

function noElements(): Elements {
  const [codes, first, several] = [createTextNumbers(), createNumbers(), new Map<number, number[]>()]
  return { codes, first, several, targets: [], equivalences: createNumbers(), kinds: createTextNumbers(), displays: [], targetDisplays: [] }
}

function addCode({ codes, first, several }: Elements, code: string, place: number): void {
  const number = codes.add(code)
  if (number === first.length()) return first.push(place)
  const known = several.get(number)
  if (known === undefined) several.set(number, [first.at(number), place])
  else known.push(place)
}

function addElement({ targets, equivalences, kinds, displays, targetDisplays }: Elements, element: JsonObject): void {
  const place = targets.length
  const plain = plainTarget(element)
  targets.push(plain?.code ?? element)
  equivalences.push(kinds.add(plain?.equivalence ?? ''))
  if (plain?.from !== undefined) displays[place] = plain.from
  if (plain?.display !== undefined) targetDisplays[place] = plain.display
}

interface PlainTarget {
  readonly code: string
  readonly equivalence: string
  readonly display: string | undefined
  /** Display of the element. */
  readonly from: string | undefined
}

const ELEMENT_MEMBERS: ReadonlySet<string> = new Set(['code', 'display', 'target'])
const TARGET_MEMBERS: ReadonlySet<string> = new Set(['code', 'display', 'equivalence'])

/** Returns the only target of an element, where both have only texts. */
function plainTarget(element: JsonObject): PlainTarget | undefined {
  const [target, ...others] = objectsAt(element, 'target')
  if (target === undefined || others.length > 0) return undefined
  if (!hasOnly(element, ELEMENT_MEMBERS) || !hasOnly(target, TARGET_MEMBERS)) return undefined
  const [code, equivalence] = [stringAt(target, 'code'), stringAt(target, 'equivalence')]
  if (code === undefined || equivalence === undefined) return undefined
  return { code, equivalence, display: stringAt(target, 'display'), from: stringAt(element, 'display') }
}

function hasOnly(object: JsonObject, names: ReadonlySet<string>): boolean {
  for (const name in object) if (!names.has(name)) return false
  return true
}

function mappingsOf(elements: Elements, code: string): readonly Mapping[] {
  const number = elements.codes.find(code)
  if (number === undefined) return []
  const several = elements.several.get(number)
  if (several === undefined) return mappingsAt(elements, code, elements.first.at(number))
  return several.flatMap((place) => mappingsAt(elements, code, place))
}

/** Returns the mappings of an element. */
function mappingsAt(elements: Elements, code: string, place: number): readonly Mapping[] {
  const { targets, equivalences, kinds, displays, targetDisplays } = elements
  const target = targets[place]
  if (isObject(target)) return objectsAt(target, 'target').map((one) => ({ element: target, target: one }))
  const [display, targetDisplay] = [displays[place], targetDisplays[place]]
  return [
    {
      element: display === undefined ? { code } : { code, display },
      target: {
        code: target,
        equivalence: kinds.texts[equivalences.at(place)],
        ...(targetDisplay !== undefined && { display: targetDisplay }),
      },
    },
  ]
}

/** Indexes the source codes by target code, in the order of the map, each once. */
function* sourcesByTarget(elements: Elements): Work<ReadonlyMap<string, string | string[]>> {
  const found = new Map<string, string | string[]>()
  let step = 0
  for (const source of elements.codes.texts) {
    for (const { target } of mappingsOf(elements, source)) {
      if (step++ % STEPS === 0) yield
      const code = stringAt(target, 'code')
      const known = code === undefined ? undefined : found.get(code)
      if (code === undefined || known === source) continue
      if (known === undefined) found.set(code, source)
      else if (typeof known === 'string') found.set(code, [known, source])
      else if (known.at(-1) !== source) known.push(source)
    }
  }
  return found
}

function mappingsTo(elements: Elements, code: string, sources: string | string[] = []): readonly Mapping[] {
  const all = typeof sources === 'string' ? [sources] : sources
  return all.flatMap((source) => mappingsOf(elements, source).filter(({ target }) => target['code'] === code))
}

const MAP: ElementShape = [['group', isElementList], NO_IMPLICIT_RULES]

const GROUP: ElementShape = [
  ['source', isText],
  ['sourceVersion', isText],
  ['target', isText],
  ['targetVersion', isText],
  ['element', isElementList],
]

const ELEMENT: ElementShape = [
  ['code', isText],
  ['target', isElementList],
]

/** @see https://hl7.org/fhir/R4/valueset-concept-map-equivalence.html */
const EQUIVALENCES: ReadonlySet<unknown> = new Set([
  'relatedto',
  'equivalent',
  'equal',
  'wider',
  'subsumes',
  'narrower',
  'specializes',
  'inexact',
  'unmatched',
  'disjoint',
])

const TARGET: ElementShape = [
  ['code', isText],
  ['equivalence', (value) => EQUIVALENCES.has(value)],
]

/** Equivalences that mean that a code has no translation. */
export const NO_TRANSLATION: ReadonlySet<unknown> = new Set(['unmatched', 'disjoint'])

/**
 * Returns the FHIRPath of the first element of a map that does not have the shape and meaning of R4, because codes would silently have no translation there,
 * or a wrong one. A target without code is malformed, unless its equivalence means that there is no translation.
 */
function* malformedPlace(map: JsonObject): Work<string | undefined> {
  const broken = wrongMember(map, MAP)
  if (broken !== undefined) return `ConceptMap.${broken}`
  let step = 0
  for (const [i, group] of objectsAt(map, 'group').entries()) {
    const wrong = wrongMember(group, GROUP)
    if (wrong !== undefined) return `ConceptMap.group[${i}].${wrong}`
    for (const [j, element] of objectsAt(group, 'element').entries()) {
      if (step++ % STEPS === 0) yield
      const place = malformedElement(element)
      if (place !== undefined) return `ConceptMap.group[${i}].element[${j}].${place}`
    }
  }
  return undefined
}

function malformedElement(element: JsonObject): string | undefined {
  const wrong = wrongMember(element, ELEMENT)
  if (wrong !== undefined) return wrong
  for (const [k, target] of objectsAt(element, 'target').entries()) {
    const missing = target['code'] === undefined && !NO_TRANSLATION.has(target['equivalence']) ? 'code' : undefined
    const place = wrongMember(target, TARGET) ?? missing
    if (place !== undefined) return `target[${k}].${place}`
  }
  return undefined
}
