import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import type { Work } from '../../work/index.js'
import { propertyCodes } from './concept-status.js'
import { propertyText } from './property-value.js'

/** The concepts of a CodeSystem in the order of their definition. */
export interface ConceptList {
  readonly concepts: readonly JsonObject[]
  /** Of each concept: the places of its parents, by nesting and by the properties `parent` and `child`. */
  readonly parents: readonly (readonly number[])[]
  /** What codes are compared by. */
  readonly keyOf: (code: string) => string
}

const STEPS = 256

/** Lists the concepts of a CodeSystem, each code once; a code that comes again adds a parent only. */
export function* collectConcepts(resource: JsonObject, caseSensitive: boolean): Work<ConceptList> {
  const keyOf = caseSensitive ? (code: string) => code : (code: string) => code.toLowerCase()
  const places = new Map<string, number>()
  const concepts: JsonObject[] = []
  const parents: number[][] = []
  const open: OpenList[] = [{ list: objectsAt(resource, 'concept'), next: 0, parent: -1 }]
  for (let nested = nextOf(open); nested !== undefined; nested = nextOf(open)) {
    const { concept, parent } = nested
    const code = stringAt(concept, 'code')
    if (code === undefined) continue
    const place = places.get(keyOf(code)) ?? concepts.length
    if (place === concepts.length) {
      places.set(keyOf(code), place)
      concepts.push(concept)
      parents.push([])
    }
    if (parent >= 0) addParent(parents, place, parent)
    if (concept['concept'] !== undefined) open.push({ list: objectsAt(concept, 'concept'), next: 0, parent: place })
    if (concepts.length % STEPS === 0) yield
  }
  yield* addNamedParents({ resource, concepts, parents, find: (code) => places.get(keyOf(code)) })
  return { concepts, parents, keyOf }
}

/** Concepts side by side, as far as they were gone through. */
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

interface Named {
  readonly resource: JsonObject
  readonly concepts: readonly JsonObject[]
  readonly parents: readonly number[][]
  readonly find: (code: string) => number | undefined
}

function* addNamedParents({ resource, concepts, parents, find }: Named): Work<void> {
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
