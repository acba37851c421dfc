import { canonicalOf, compareVersions, formatCanonical, headOf, newestOf, withoutVersion, type Definition } from '../../content/index.js'
import { paced, type OperationContext } from '../../context/index.js'
import { stringAt, objectsAt, type JsonObject } from '../../json/index.js'
import { bestVersion, versionFits, wishedVersion, type VersionOrigin, type VersionRules } from '../versions.js'
import { finished, type Work } from '../../work/index.js'
import { computedSystem } from './computed-system.js'
import type { CodeSystemProvider, ConceptIndex, ConceptSource, SystemHeader } from '../../code-system/index.js'
import { makeProvider, resourceProvider, refuseModified } from './resource-provider.js'
import { importedReleases } from './imported-releases.js'
import { cachedWork, type Pending, createMarks, memoizeRecent, once, type Marks } from '../memo.js'
import { bitmapFrom, or, type Bitmap } from '../../bits/index.js'
import { propertyTexts, searchedTexts, declaredProperties } from './concept-index.js'
import { hasWord, wordsIn } from './text-index.js'

/** All known versions and supplements of a code system. */
export interface SystemFamily {
  readonly url: string
  /** Known versions in ascending order; a system without version has none. */
  readonly versions: readonly string[]
  /** True if no version with content is known. */
  readonly unknown: boolean
  /** Canonical of a supplement with this url, when there is no code system with it. */
  readonly supplement?: string
  /** True if only definitions are known whose `content` is `not-present`. */
  readonly contentless?: boolean
  /** True if the version, or one that matches its wildcards, is known. */
  has(version: string): boolean
  /** Builds the provider for the version while other work runs in between. */
  prepare(version?: string): Promise<void>
  /** Returns the provider for the requested version, or for the newest. Built synchronously if it was not prepared. */
  provider(version?: string): CodeSystemProvider | undefined
  /** False once a provider holds codes of a single request; other requests then need a new family. */
  lasts(): boolean
}

/** Options of `systemFamily`. */
interface FamilyOptions {
  /** The supplements to use, each with the definitions that its canonical can mean: several if it names no version. */
  readonly supplements: readonly (readonly Definition[])[]
}

/** Collects all versions of a code system and the supplements that the request uses. */
export async function systemFamily(ctx: OperationContext, url: string, options: FamilyOptions): Promise<SystemFamily> {
  const [stored, computed, found] = await Promise.all([
    importedReleases(ctx, url),
    computedSystem(ctx, url),
    ctx.content.find('CodeSystem', 'url', url),
  ])
  const systems = found.filter(hasContent)
  const used = options.supplements.map((versions) => versions.filter((definition) => supplementedUrl(definition) === url))
  const made = madeProviders(ctx, used)
  const newest = newestOf(systems)
  const best = memoizeRecent(MOST_PICKED, (version: string) => ({ definition: bestVersion(systems, version) }))
  const pick = (version: string | undefined): Definition | undefined => (version === undefined ? newest : best(version).definition)
  const versions = once(() => [...systems.flatMap((definition) => definition.version ?? []), ...stored.versions].toSorted(compareVersions))
  const supplement = found.find(isSupplement)
  const unknown = systems.length === 0 && stored.versions.length === 0 && computed === undefined
  return {
    url,
    get versions() {
      return versions()
    },
    unknown,
    contentless: unknown && found.some((definition) => contentOf(definition) === 'not-present'),
    has: (version) => pick(version) !== undefined || stored.has(version) || computed?.(version) !== undefined,
    async prepare(version) {
      const definition = pick(version)
      if (definition !== undefined) {
        if (made.get(definition) === undefined) await made.prepare(definition, await resourceProvider(ctx, definition), definition.key)
        return
      }
      await stored.prepare(version)
      const provider = used.some(({ length }) => length > 0) ? stored.provider(version) : undefined
      if (provider !== undefined) await made.prepare(provider, provider)
    },
    provider(version) {
      const definition = pick(version)
      if (definition !== undefined) return made.get(definition) ?? made.keep(definition, finished(makeProvider(definition.resource)))
      const provider = stored.provider(version) ?? computed?.(version)
      return provider && made.keep(provider, provider)
    },
    lasts: () => computed === undefined && stored.lasts(),
    ...(systems.length === 0 && supplement !== undefined && { supplement: formatCanonical(supplement.url, supplement.version) }),
  }
}

/** Requested versions whose definitions are remembered; a value set may use half as many versions of a code system. */
const MOST_PICKED = 200

/** Providers with their supplements, by source. */
interface MadeProviders {
  get(source: object): CodeSystemProvider | undefined
  /** Adds the supplements synchronously; returns the existing provider if there is one for the source. */
  keep(source: object, provider: CodeSystemProvider): CodeSystemProvider
  /** Adds the supplements while other work runs in between. @param key Present if the source has the same concepts with the same numbers in every request. */
  prepare(source: object, provider: CodeSystemProvider, key?: string): Promise<void>
}

function madeProviders(ctx: OperationContext, supplements: FamilyOptions['supplements']): MadeProviders {
  const made = new Map<object, CodeSystemProvider>()
  // Of each supplement, the newest version that is for this version of the code system.
  const fitting = ({ header }: CodeSystemProvider): readonly Definition[] => [
    ...new Set(supplements.flatMap((versions) => newestOf(versions.filter((supplement) => isFor(supplement, header))) ?? [])),
  ]
  return {
    get: (source) => made.get(source),
    keep(source, provider) {
      const apply = (): CodeSystemProvider =>
        supplemented(
          provider,
          fitting(provider)
            .map(supplementOf)
            .map((supplement) => ({ ...supplement, added: finished(addedBy(provider, supplement)) })),
        )
      const first = made.get(source) ?? apply()
      made.set(source, first)
      return first
    },
    async prepare(source, provider, key) {
      const added: AddedSupplement[] = []
      for (const definition of fitting(provider))
        added.push({ ...supplementOf(definition), added: await addedOf(ctx, definition, { provider, key }) })
      made.set(source, made.get(source) ?? supplemented(provider, added))
    },
  }
}

interface Supplementable {
  readonly provider: CodeSystemProvider
  /** Absent if its concepts may have other numbers in another request. */
  readonly key: string | undefined
}

/** Memory of one concept and its position; the parsed resource belongs to the storage. */
const BYTES_PER_ADDED = 200
const ADDED: Marks<Pending<Added>> = createMarks()

/** Returns the definitions of a supplement for a code system, computed once if both are stored. */
async function addedOf(ctx: OperationContext, definition: Definition, { provider, key }: Supplementable): Promise<Added> {
  const make = (): Work<Added> => addedBy(provider, supplementOf(definition))
  if (key === undefined) return paced(ctx, make())
  const kind = { name: `supplement-of ${key}`, bytes: ({ size }: Added) => 1_000 + size * BYTES_PER_ADDED, make, pending: ADDED }
  return cachedWork(ctx, kind, definition)
}

/** The version of a code system that an include resolves to. */
export interface SystemChoice {
  readonly family: SystemFamily
  /** Absent when the system, or the version, is unknown. */
  readonly provider?: CodeSystemProvider
  readonly origin: VersionOrigin
  /** The version that the include states. */
  readonly stated?: string
  /** The version as written in the include or the parameter; absent for the newest. */
  readonly wished?: string
  /** The version that `check-system-version` requires, if the chosen one does not match it. */
  readonly violates?: string
}

/** The versions in an include and in the validated value, and the rules. */
interface ChoiceInput {
  readonly include?: string | undefined
  readonly value?: string | undefined
  readonly rules: VersionRules
}

/**
 * Chooses the version for an include. For a version with wildcards, and for an include without any version, the version of the value is preferred if it
 * is known.
 */
export function chooseVersion(family: SystemFamily, { include, value, rules }: ChoiceInput): SystemChoice {
  const { origin, version } = wishedVersion({ url: family.url, include, rules })
  const fits = value !== undefined && (version === undefined || versionFits(version, value))
  const provider = (fits ? family.provider(value) : undefined) ?? family.provider(version)
  const violates = provider === undefined ? undefined : violation(rules.check?.get(family.url), provider)
  return {
    family,
    origin,
    ...(provider !== undefined && { provider }),
    ...(include !== undefined && { stated: include }),
    ...(version !== undefined && { wished: version }),
    ...(violates !== undefined && { violates }),
  }
}

/** As `chooseVersion`, but first prepares all versions that may be chosen. */
export async function preparedChoice(family: SystemFamily, input: ChoiceInput): Promise<SystemChoice> {
  const { version } = wishedVersion({ url: family.url, include: input.include, rules: input.rules })
  await family.prepare(version)
  if (input.value !== undefined && family.has(input.value)) await family.prepare(input.value)
  return chooseVersion(family, input)
}

function violation(required: string | undefined, { header }: CodeSystemProvider): string | undefined {
  return required === undefined || versionFits(required, header.version) ? undefined : required
}

function contentOf(definition: Definition): string | undefined {
  return stringAt(headOf(definition), 'content')
}

function hasContent(definition: Definition): boolean {
  return !isSupplement(definition) && contentOf(definition) !== 'not-present'
}

/** True for a supplement: it names a system that it supplements, whatever its `content` is. */
function isSupplement(definition: Definition): boolean {
  return contentOf(definition) === 'supplement' || stringAt(headOf(definition), 'supplements') !== undefined
}

/** Returns the canonical of the code system that a supplement is for, perhaps with a version. */
export function supplementedCanonical(supplement: Definition): string {
  return stringAt(headOf(supplement), 'supplements') ?? ''
}

/** Returns the url of the code system that a supplement is for. */
export function supplementedUrl(supplement: Definition): string {
  return withoutVersion(supplementedCanonical(supplement))
}

interface Named {
  readonly url: string
  readonly version?: string | undefined
}

/** True if the supplement is for this version of the code system. */
export function isFor(supplement: Definition, system: Named): boolean {
  const { url, version } = canonicalOf(supplementedCanonical(supplement))
  return url === system.url && (version === undefined || versionFits(version, system.version))
}

function supplementOf({ url, version, resource }: Definition): Supplement {
  return { canonical: formatCanonical(url, version), resource }
}

/** A supplement (CodeSystem with content `supplement`) with its canonical. */
interface Supplement {
  readonly canonical: string
  readonly resource: JsonObject
}

/** The definitions of a supplement for concepts of a code system, by number of the concept. */
type Added = ReadonlyMap<number, readonly ConceptSource[]>

/** A supplement with its definitions for the concepts of a code system. */
interface AddedSupplement extends Supplement {
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
