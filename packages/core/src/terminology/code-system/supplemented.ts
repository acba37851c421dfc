import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { bitmapFrom, or } from '../bitmap.js'
import { conceptIndex, searchedTexts } from './concept-index.js'
import type { CodeSystemProvider, ConceptIndex, ConceptSource } from './provider.js'
import { hasWord } from './text-index.js'

/** A CodeSystem of content `supplement` with its canonical. */
export interface Supplement {
  readonly canonical: string
  readonly resource: JsonObject
}

/** The provider with the designations, properties and extensions of supplements added; nothing is taken away. */
export function supplemented(provider: CodeSystemProvider, supplements: readonly Supplement[]): CodeSystemProvider {
  if (supplements.length === 0) return provider
  const added = addedSources(provider, supplements)
  const sources = (concept: number): readonly ConceptSource[] => {
    const more = added.get(concept)
    return more === undefined ? provider.sources(concept) : [...provider.sources(concept), ...more]
  }
  const properties = supplements.flatMap(({ resource }) =>
    objectsAt(resource, 'property').map((item) => [stringAt(item, 'code') ?? '', stringAt(item, 'uri')] as const),
  )
  return {
    ...provider,
    header: { ...provider.header, properties: new Map([...properties, ...provider.header.properties]) },
    supplements: supplements.map(({ canonical }) => canonical),
    sources,
    ...(provider.index !== undefined && { index: withAdded(provider, provider.index, { added, sources }) }),
  }
}

interface Added {
  readonly added: ReadonlyMap<number, readonly ConceptSource[]>
  readonly sources: (concept: number) => readonly ConceptSource[]
}

/** Texts of the system itself are found by its own index; those of the supplements, being few, one by one. */
function withAdded(provider: CodeSystemProvider, index: ConceptIndex, { added, sources }: Added): ConceptIndex {
  const own = conceptIndex({ size: index.size, sources, status: (concept) => provider.status(concept) })
  return {
    ...index,
    values: (property) => own.values(property),
    displayOrder: () => undefined,
    withWord: (word) => {
      const found = Array.from(added).filter(([, more]) => hasWord(searchedTexts(more), word))
      return or(
        index.withWord(word),
        bitmapFrom(
          found.map(([concept]) => concept),
          index.size,
        ),
      )
    },
  }
}

function addedSources(provider: CodeSystemProvider, supplements: readonly Supplement[]): ReadonlyMap<number, readonly ConceptSource[]> {
  const added = new Map<number, ConceptSource[]>()
  for (const { canonical, resource } of supplements) {
    const open = [...objectsAt(resource, 'concept')]
    for (const concept of open) {
      const place = provider.find(stringAt(concept, 'code') ?? '')
      if (place !== undefined) added.set(place, [...(added.get(place) ?? []), { concept, supplement: canonical }])
      open.push(...objectsAt(concept, 'concept'))
    }
  }
  return added
}
