import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import type { Work } from '../work.js'
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
  const open = nestedIn(resource, -1)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const code = stringAt(next.concept, 'code')
    if (code === undefined) continue
    const place = places.get(keyOf(code)) ?? concepts.length
    if (place === concepts.length) {
      places.set(keyOf(code), place)
      concepts.push(next.concept)
      parents.push([])
    }
    if (next.parent >= 0) addParent(parents, place, next.parent)
    for (const child of nestedIn(next.concept, place)) open.push(child)
    if (concepts.length % STEPS === 0) yield
  }
  yield* addNamedParents({ resource, concepts, parents, find: (code) => places.get(keyOf(code)) })
  return { concepts, parents, keyOf }
}

interface Nested {
  readonly concept: JsonObject
  readonly parent: number
}

/** Last first, as they go on a stack. */
function nestedIn(element: JsonObject, parent: number): Nested[] {
  return element['concept'] === undefined
    ? []
    : objectsAt(element, 'concept')
        .map((concept) => ({ concept, parent }))
        .reverse()
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
