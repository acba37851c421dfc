import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
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

/** Lists the concepts of a CodeSystem, each code once; a code that comes again adds a parent only. */
export function collectConcepts(resource: JsonObject, caseSensitive: boolean): ConceptList {
  const keyOf = caseSensitive ? (code: string) => code : (code: string) => code.toLowerCase()
  const places = new Map<string, number>()
  const concepts: JsonObject[] = []
  const parents: Set<number>[] = []
  const open: { readonly concept: JsonObject; readonly parent: number }[] = nestedIn(resource, -1)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const code = stringAt(next.concept, 'code')
    if (code === undefined) continue
    const place = places.get(keyOf(code)) ?? concepts.length
    if (place === concepts.length) {
      places.set(keyOf(code), place)
      concepts.push(next.concept)
      parents.push(new Set())
    }
    if (next.parent >= 0) parents[place]?.add(next.parent)
    open.push(...nestedIn(next.concept, place))
  }
  addNamedParents({ resource, concepts, parents, find: (code) => places.get(keyOf(code)) })
  return { concepts, parents: parents.map((set) => [...set]), keyOf }
}

/** Last first, as they go on a stack. */
function nestedIn(element: JsonObject, parent: number): { readonly concept: JsonObject; readonly parent: number }[] {
  return objectsAt(element, 'concept').map((concept) => ({ concept, parent })).reverse()
}

interface Named {
  readonly resource: JsonObject
  readonly concepts: readonly JsonObject[]
  readonly parents: readonly Set<number>[]
  readonly find: (code: string) => number | undefined
}

function addNamedParents({ resource, concepts, parents, find }: Named): void {
  const parentCodes = propertyCodes(resource, 'parent')
  const childCodes = propertyCodes(resource, 'child')
  concepts.forEach((concept, place) => {
    for (const property of objectsAt(concept, 'property')) {
      const code = stringAt(property, 'code') ?? ''
      const other = find(propertyText(property) ?? '') ?? place
      if (other === place) continue
      if (parentCodes.includes(code)) parents[place]?.add(other)
      if (childCodes.includes(code)) parents[other]?.add(place)
    }
  })
}
