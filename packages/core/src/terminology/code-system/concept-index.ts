import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { ascendingBitmap, rangeBitmap, testedBitmap, type Bitmap } from '../../bits/index.js'
import { finished, sharedWork, type Work } from '../../work/index.js'
import type { ConceptStatus, ConceptIndex, ConceptSource } from '../../code-system/index.js'
import { filterTexts } from './concept-properties.js'
import { textIndex } from './text-index.js'

/** The concepts to index. */
export interface Indexed {
  readonly size: number
  readonly sources: (concept: number) => readonly ConceptSource[]
  readonly status: (concept: number) => ConceptStatus
}

/** Creates the index of a code system; its parts are built at first use. */
export function conceptIndex({ size, sources, status }: Indexed): ConceptIndex {
  const all = rangeBitmap(0, size, size)
  const columns = new Map<string, () => Work<ReadonlyMap<string, Bitmap>>>()
  const column = (property: string): Work<ReadonlyMap<string, Bitmap>> => {
    const known = columns.get(property) ?? sharedWork(() => columnOf(property, size, sources))
    columns.set(property, known)
    return known()
  }
  const inactive = sharedWork(() => testedBitmap(size, (concept) => status(concept).inactive))
  const own = (concept: number): JsonObject => sources(concept)[0]?.concept ?? {}
  const texts = sharedWork(() =>
    textIndex({
      size,
      display: (concept) => stringAt(own(concept), 'display'),
      code: (concept) => stringAt(own(concept), 'code') ?? '',
      texts: (concept) => searchedTexts(sources(concept)),
    }),
  )
  return {
    size,
    all: () => all,
    inactive: () => finished(inactive()),
    buildInactive: inactive,
    values: (property) => finished(column(property)),
    buildValues: column,
    buildTexts: texts,
    withWord: (word) => finished(texts()).find(word),
    words: (start) => finished(texts()).words(start),
    displayOrder: () => finished(texts()).order,
  }
}

/** Returns all texts of a concept that a text filter searches. */
export function searchedTexts(sources: readonly ConceptSource[]): readonly string[] {
  const texts: string[] = []
  for (const { concept } of sources) {
    const [display, code] = [stringAt(concept, 'display'), stringAt(concept, 'code')]
    if (display !== undefined) texts.push(display)
    if (code !== undefined) texts.push(code)
    if (concept['designation'] === undefined) continue
    for (const designation of objectsAt(concept, 'designation')) texts.push(stringAt(designation, 'value') ?? '')
  }
  return texts
}

const STEPS = 256

function* columnOf(property: string, size: number, sources: Indexed['sources']): Work<ReadonlyMap<string, Bitmap>> {
  const places = new Map<string, number[]>()
  for (let concept = 0; concept < size; concept++) {
    if (concept % STEPS === 0) yield
    for (const value of new Set(propertyTexts(sources(concept), property))) {
      const list = places.get(value)
      if (list === undefined) places.set(value, [concept])
      else list.push(concept)
    }
  }
  const column = new Map<string, Bitmap>()
  for (const [value, list] of places) {
    if (column.size % STEPS === 0) yield
    column.set(value, ascendingBitmap(list, size))
  }
  return column
}

/** Returns the values of a property of a concept, as filters compare them. */
export function propertyTexts(sources: readonly ConceptSource[], property: string): readonly string[] {
  const texts: string[] = []
  for (const { concept } of sources) {
    if (concept['property'] === undefined) continue
    for (const item of objectsAt(concept, 'property')) {
      if (item['code'] === property) texts.push(...filterTexts(item))
    }
  }
  return texts
}
