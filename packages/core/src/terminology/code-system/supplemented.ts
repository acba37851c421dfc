import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { bitmapFrom, or, type Bitmap } from '../../bits/index.js'
import { propertyTexts, searchedTexts, declaredProperties } from './concept-index.js'
import { refuseModified } from './resource-provider.js'
import type { CodeSystemProvider, ConceptIndex, ConceptSource, SystemHeader } from '../../code-system/index.js'
import type { Work } from '../../work/index.js'
import { hasWord, wordsIn } from './text-index.js'

/** A supplement (CodeSystem with content `supplement`) with its canonical. */
export interface Supplement {
  readonly canonical: string
  readonly resource: JsonObject
}

/** The definitions of a supplement for concepts of a code system, by number of the concept. */
export type Added = ReadonlyMap<number, readonly ConceptSource[]>

/** A supplement with its definitions for the concepts of a code system. */
export interface AddedSupplement extends Supplement {
  readonly added: Added
}

/** Adds the designations, properties and extensions of supplements to a provider; nothing is removed. */
export function supplemented(provider: CodeSystemProvider, supplements: readonly AddedSupplement[]): CodeSystemProvider {
  if (supplements.length === 0) return provider
  const all = supplements.map(({ added }) => added)
  // Asked several times for each code of an expansion: half of its time would be spent on lists that are put together anew.
  const sources = (concept: number): readonly ConceptSource[] => {
    const own = provider.sources(concept)
    let found: ConceptSource[] | undefined
    for (const added of all) {
      const more = added.get(concept)
      if (more === undefined) continue
      found ??= own.slice()
      for (const source of more) found.push(source)
    }
    return found ?? own
  }
  return {
    ...provider,
    header: { ...provider.header, ...withDeclared(provider.header, supplements) },
    supplements: supplements.map(({ canonical }) => canonical),
    sources,
    ...(provider.index !== undefined && { index: withAdded(provider.index, all) }),
  }
}

/** Adds declared properties of supplements; declarations of the system take precedence. */
function withDeclared({ properties, propertyTypes }: SystemHeader, supplements: readonly Supplement[]): Partial<SystemHeader> {
  const declared = supplements.map(({ resource }) => declaredProperties(resource))
  return {
    properties: new Map([...declared.flatMap((one) => [...one.properties]), ...properties]),
    propertyTypes: new Map([...declared.flatMap((one) => [...one.propertyTypes]), ...(propertyTypes ?? [])]),
  }
}

/** Wraps the index of the system: content of supplements is searched linearly, because there is little of it. */
function withAdded(index: ConceptIndex, all: readonly Added[]): ConceptIndex {
  const bitmap = (concepts: readonly number[]): Bitmap => bitmapFrom(concepts, index.size)
  return {
    ...index,
    get size() {
      return index.size
    },
    values: (property) => {
      const values = new Map(index.values(property))
      for (const [text, found] of addedValues(all, property)) {
        const more = bitmap(found.map(({ concept }) => concept))
        values.set(text, or(values.get(text) ?? more, more))
      }
      return values
    },
    displayOrder: () => undefined,
    words: (start) => [
      ...index.words(start),
      ...all.flatMap((added) => Array.from(added.values(), (more) => wordsIn(searchedTexts(more), start)).flat()),
    ],
    withWord: (word) => {
      const found = all.flatMap((added) => Array.from(added).filter(([, more]) => hasWord(searchedTexts(more), word)))
      return or(index.withWord(word), bitmap(found.map(([concept]) => concept)))
    },
  }
}

interface AddedValue {
  readonly text: string
  readonly concept: number
}

function addedValues(all: readonly Added[], property: string): ReadonlyMap<string, readonly AddedValue[]> {
  const found = all
    .flatMap((added) => Array.from(added))
    .flatMap(([concept, sources]) => propertyTexts(sources, property).map((text) => ({ text, concept })))
  return Map.groupBy(found, ({ text }) => text)
}

/** Number of concepts that are added in one step. */
const PIECE = 500

/** Finds the concepts that a supplement extends. */
export function* addedBy(provider: CodeSystemProvider, { canonical, resource }: Supplement): Work<Added> {
  refuseModified(resource)
  const added = new Map<number, ConceptSource[]>()
  const language = stringAt(resource, 'language')
  const sourceOf = (concept: JsonObject): ConceptSource =>
    language === undefined ? { concept, supplement: canonical } : { concept, supplement: canonical, language }
  const open = [...objectsAt(resource, 'concept')]
  let seen = 0
  for (const concept of open) {
    if (++seen % PIECE === 0) yield
    const place = provider.find(stringAt(concept, 'code') ?? '')
    if (place !== undefined) add(added, place, sourceOf(concept))
    for (const inner of objectsAt(concept, 'concept')) open.push(inner)
  }
  return added
}

function add(added: Map<number, ConceptSource[]>, place: number, source: ConceptSource): void {
  const known = added.get(place)
  if (known === undefined) added.set(place, [source])
  else known.push(source)
}
