import { stringAt, type JsonObject } from '../../json/index.js'
import type { ComputedSystem } from '../../code-system/index.js'
import { bitmapFrom, emptyBitmap, rangeBitmap, type Bitmap } from '../../bits/index.js'
import { cannotBeListed, testedSet } from '../filter/concept-set.js'
import type { Filter, ConceptStatus, Hierarchy, CodeSystemProvider, ConceptIndex, ConceptSource } from '../../code-system/index.js'
import type { ValueSetDefinition } from '../value-set/value-set.js'
import { propertyTexts, searchedTexts } from './concept-index.js'
import { hasWord, wordsIn } from './text-index.js'

/**
 * The provider over a system that makes its codes, for one request: concepts are numbered as they are met.
 *
 * @param common The value set that stands for the system where its codes are to be listed.
 */
export function computedProvider(system: ComputedSystem, common: ValueSetDefinition | undefined): CodeSystemProvider {
  const table = conceptTable(system, common === undefined ? undefined : listedCodes(system, common))
  const provider: CodeSystemProvider = {
    header: {
      url: system.url,
      name: system.name,
      status: 'active',
      experimental: false,
      complete: true,
      caseSensitive: system.caseSensitive,
      versionNeeded: false,
      properties: new Map(),
      ...(system.version !== undefined && { version: system.version }),
      ...(system.language !== undefined && { language: system.language }),
    },
    supplements: [],
    find: table.find,
    code: (concept) => stringAt(table.concepts[concept], 'code') ?? '',
    sources: table.sources,
    status: () => ACTIVE,
    hierarchy: flatHierarchy(() => table.concepts.length),
    index: tableIndex(table),
    filter: ({ property, op, value }: Filter) => {
      const accepts = system.filter?.(property, op, value)
      return accepts === undefined ? undefined : testedSet(provider, (concept) => accepts(provider.code(concept)))
    },
    grammar: {
      isMade: () => false,
      isUsed: () => true,
      admits: () => true,
      note: '',
      whyNot: (code) => system.whyNot?.(code),
      ...(common !== undefined && { common }),
    },
  }
  return provider
}

const ACTIVE: ConceptStatus = { inactive: false, abstract: false }

interface ConceptTable {
  readonly concepts: readonly JsonObject[]
  readonly find: (code: string) => number | undefined
  readonly sources: (concept: number) => readonly ConceptSource[]
  /** The codes in common use. @throws {OperationError} `not-supported` when they are not known. */
  readonly common: () => readonly number[]
}

function conceptTable(system: ComputedSystem, commonCodes: readonly string[] | undefined): ConceptTable {
  const concepts: JsonObject[] = []
  const places = new Map<string, number>()
  const add = (concept: JsonObject): number => {
    const code = stringAt(concept, 'code') ?? ''
    const place = places.get(code) ?? concepts.push(concept) - 1
    places.set(code, place)
    return place
  }
  const find = (code: string): number | undefined => {
    const known = places.get(code)
    if (known !== undefined) return known
    const concept = system.find(code)
    return concept === undefined ? undefined : add(concept)
  }
  let common: readonly number[] | undefined
  return {
    concepts,
    find,
    sources: (concept) => [{ concept: concepts[concept] ?? {} }],
    common() {
      if (commonCodes === undefined) throw cannotBeListed(system.url)
      return (common ??= commonCodes.flatMap((code) => find(code) ?? []))
    },
  }
}

function listedCodes({ url }: ComputedSystem, { includes }: ValueSetDefinition): readonly string[] {
  return includes.flatMap(({ system, concepts }) => (system === url ? (concepts ?? []).map(({ code }) => code) : []))
}

/** Sets over the codes that were met; whoever asks for all of them gets those in common use. */
function tableIndex(table: ConceptTable): ConceptIndex {
  const { concepts, sources } = table
  return {
    get size() {
      return concepts.length
    },
    all: () => bitmapFrom(table.common(), concepts.length),
    inactive: () => emptyBitmap(concepts.length),
    values(property) {
      const met = concepts.flatMap((_, concept) => propertyTexts(sources(concept), property).map((text) => ({ text, concept })))
      const column = Map.groupBy(met, ({ text }) => text)
      return new Map(
        Array.from(column, ([text, found]) => [
          text,
          bitmapFrom(
            found.map(({ concept }) => concept),
            concepts.length,
          ),
        ]),
      )
    },
    *buildTexts() {},
    words: (start) => concepts.flatMap((_, concept) => wordsIn(searchedTexts(sources(concept)), start)),
    withWord(word) {
      const found = concepts.flatMap((_, concept) => (hasWord(searchedTexts(sources(concept)), word) ? [concept] : []))
      return bitmapFrom(found, concepts.length)
    },
  }
}

function flatHierarchy(size: () => number): Hierarchy {
  const itself = (concept: number): Bitmap => rangeBitmap(concept, concept + 1, Math.max(size(), concept + 1))
  return {
    nested: false,
    parents: () => [],
    children: () => [],
    isWithin: (concept, ancestor) => concept === ancestor,
    within: itself,
    above: itself,
  }
}
