import {
  isImported,
  type CodeSystemProvider,
  type ComputedSystem,
  type Filter,
  type ConceptStatus,
  type Hierarchy,
  type ConceptIndex,
  type ConceptSource,
} from '../../code-system/index.js'
import { newestOf, type Definition } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { definedValueSet, type ValueSetDefinition } from '../value-set/value-set.js'
import { stringAt, type JsonObject } from '../../json/index.js'
import { bitmapFrom, emptyBitmap, rangeBitmap, type Bitmap, createTextNumbers } from '../../bits/index.js'
import { cannotBeListed, testedSet } from '../filter/concept-set.js'
import { propertyTexts, searchedTexts } from './concept-index.js'
import { hasWord, wordsIn } from './text-index.js'

/** Returns the provider for a version; without a version the current one; `undefined` for an unknown version. */
type SystemSource = (version?: string) => CodeSystemProvider | undefined

/** Finds the computed code system with this url in the context; `undefined` when there is none. */
export async function computedSystem(ctx: OperationContext, url: string): Promise<SystemSource | undefined> {
  const system = ctx.codeSystems?.find((one) => one.url === url && !isImported(one))
  return system === undefined || isImported(system) ? undefined : sourceOf(ctx, system)
}

async function sourceOf(ctx: OperationContext, system: ComputedSystem): Promise<SystemSource> {
  const found = await firstKnown(ctx, system.common ?? [])
  const provider = computedProvider(system, found === undefined ? undefined : definedValueSet(ctx.cache, found))
  return (version) => (version === undefined || version === system.version ? provider : undefined)
}

async function firstKnown(ctx: OperationContext, urls: readonly string[]): Promise<Definition | undefined> {
  for (const url of urls) {
    const found = newestOf(await ctx.content.find('ValueSet', 'url', url))
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Creates the provider over a computed system, for one request: concepts are numbered as they are found.
 *
 * @param common The value set that represents the system where its codes have to be listed.
 */
function computedProvider(system: ComputedSystem, common: ValueSetDefinition | undefined): CodeSystemProvider {
  const table = conceptTable(system, common)
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
  /** Returns the codes in common use. @throws {OperationError} `not-supported` when they are unknown. */
  readonly common: () => readonly number[]
}

function conceptTable(system: ComputedSystem, commonValueSet: ValueSetDefinition | undefined): ConceptTable {
  const concepts: JsonObject[] = []
  const codes = createTextNumbers()
  const add = (concept: JsonObject): number => {
    const place = codes.add(stringAt(concept, 'code') ?? '')
    concepts[place] ??= concept
    return place
  }
  const find = (code: string): number | undefined => {
    const concept = codes.find(code) ?? system.find(code)
    return typeof concept === 'object' ? add(concept) : concept
  }
  let common: readonly number[] | undefined
  return {
    concepts,
    find,
    sources: (concept) => [{ concept: concepts[concept] ?? {} }],
    common() {
      if (commonValueSet === undefined) throw cannotBeListed(system.url)
      return (common ??= listedCodes(system, commonValueSet).flatMap((code) => find(code) ?? []))
    },
  }
}

function listedCodes({ url }: ComputedSystem, { includes }: ValueSetDefinition): readonly string[] {
  return includes.flatMap(({ system, concepts }) => (system === url ? (concepts ?? []).map(({ code }) => code) : []))
}

/** Creates sets over the codes found so far. `all` returns the codes in common use. */
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
