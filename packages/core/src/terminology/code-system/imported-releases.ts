import {
  isImported,
  type CodeSystemProvider,
  type ComputedSystem,
  type ImplicitType,
  type ImportedSystem,
  type OpenRelease,
} from '../../code-system/index.js'
import type { Definition } from '../../content/index.js'
import { createPace, type OperationContext } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { stringAt } from '../../json/index.js'
import type { ConceptStore, StoredSystem } from '../../storage/index.js'
import { createMarks, type Marks } from '../memo.js'

/** The imported versions of one code system. */
interface ImportedReleases {
  readonly versions: readonly string[]
  /** True if the version, or one that matches it, was imported. */
  has(version: string): boolean
  /** Builds the provider for the version while other work runs in between. */
  prepare(version?: string): Promise<void>
  /** Returns the provider for the requested version; without a version, for the default version. */
  provider(version?: string): CodeSystemProvider | undefined
  /** False once a provider has found a code that is not listed. */
  lasts(): boolean
}

/**
 * Opens every imported version of a code system.
 *
 * @throws {OperationError} `not-supported` for imported versions that no code system of the context can open.
 */
export async function importedReleases(ctx: OperationContext, url: string): Promise<ImportedReleases> {
  const releases = await openReleases(ctx, url)
  const made = new Map<string, CodeSystemProvider>()
  return {
    versions: releases.versions,
    has: (version) => releases.pick(version) !== undefined,
    async prepare(version) {
      const build = releases.pick(version)?.open.build
      if (build !== undefined) await createPace(ctx).run(build())
    },
    provider(version) {
      const picked = releases.pick(version)
      if (picked === undefined) return undefined
      const provider = made.get(picked.stored.key) ?? picked.open.provider()
      made.set(picked.stored.key, provider)
      return provider
    },
    lasts: () => made.values().every(({ grammar }) => grammar?.isUsed() !== true),
  }
}

/**
 * Finds the implicit value set or concept map that a code system of the context defines for a canonical.
 *
 * @returns `undefined` when no code system defines it, or no imported release has it.
 */
export async function implicitDefinition(ctx: OperationContext, type: ImplicitType, canonical: string): Promise<Definition | undefined> {
  for (const system of ctx.codeSystems ?? []) {
    const found = isImported(system)
      ? await implicitInRelease(ctx, system, { type, canonical })
      : implicitByRule(system, { type, canonical })
    if (found !== undefined) return found
  }
  return undefined
}

interface Implicit {
  readonly type: ImplicitType
  readonly canonical: string
}

function implicitByRule(system: ComputedSystem, { type, canonical }: Implicit): Definition | undefined {
  const resource = type === 'ValueSet' ? system.implicitValueSet?.(canonical) : undefined
  return resource && { type, url: canonical, status: 'active', resource }
}

async function implicitInRelease(
  ctx: OperationContext,
  system: ImportedSystem,
  { type, canonical }: Implicit,
): Promise<Definition | undefined> {
  const named = system.implicitVersion?.(type, canonical)
  if (named === undefined) return undefined
  const release = (await openReleases(ctx, system.url)).pick(named.version)
  if (release?.open.implicitResource === undefined) return undefined
  if (release.open.build !== undefined) await createPace(ctx).run(release.open.build())
  const resource = release.open.implicitResource(type, canonical)
  if (resource === undefined) return undefined
  const [url = canonical, version] = [stringAt(resource, 'url'), stringAt(resource, 'version')]
  return {
    type,
    url,
    status: 'active',
    resource,
    ...(version !== undefined && { version }),
    // Only maps are cached, because they are large; a value set is a single filter.
    ...(type === 'ConceptMap' && { key: `${release.stored.key} ${url}` }),
  }
}

/**
 * Refuses a canonical that begins with the url of an imported code system which no code system of the context can open, because that code system may
 * define it.
 *
 * @throws {OperationError} `not-supported` for such a canonical.
 */
export async function refuseUnopened(ctx: OperationContext, canonical: string): Promise<void> {
  const stored = (await ctx.concepts?.systems()) ?? []
  const unopened = stored.find(({ url }) => isUnder(canonical, url) && openerOf(ctx, url) === undefined)
  if (unopened !== undefined) throw cannotOpen(unopened)
}

function isUnder(canonical: string, url: string): boolean {
  return canonical.startsWith(url) && /^[?/|]/.test(canonical.slice(url.length))
}

interface Release {
  readonly stored: StoredSystem
  readonly open: OpenRelease
}

interface OpenReleases {
  readonly versions: readonly string[]
  /** Returns the release for a version. */
  pick(version: string | undefined): Release | undefined
}

async function openReleases(ctx: OperationContext, url: string): Promise<OpenReleases> {
  const { concepts } = ctx
  const stored = ((await concepts?.systems()) ?? []).filter((one) => one.url === url)
  const [first] = stored
  if (concepts === undefined || first === undefined) return { versions: [], pick: () => undefined }
  const system = openerOf(ctx, url)
  const readable = stored.filter(({ format }) => format === system?.format)
  if (system === undefined || readable.length === 0) throw cannotOpen(first, system)
  const releases = new Map<string, Release>()
  for (const one of readable) releases.set(one.version, { stored: one, open: await openRelease(ctx, concepts, one, system) })
  const versions = [...releases.keys()]
  return { versions, pick: (version) => releases.get(system.pickVersion(versions, version) ?? '') }
}

function openerOf(ctx: OperationContext, url: string): ImportedSystem | undefined {
  return ctx.codeSystems?.filter(isImported).find((system) => system.url === url)
}

/** The functions that open releases of this project's importers, for the error message. */
const OPENERS: ReadonlyMap<string, string> = new Map([
  ['http://snomed.info/sct', 'snomed() of @fhir-ops/snomed'],
  ['http://loinc.org', 'loinc() of @fhir-ops/loinc-rxnorm'],
  ['http://www.nlm.nih.gov/research/umls/rxnorm', 'rxnorm() of @fhir-ops/loinc-rxnorm'],
])

function cannotOpen({ url, format }: StoredSystem, system?: ImportedSystem): OperationError {
  const opener = OPENERS.get(url) ?? `an ImportedSystem that opens the format ${quoted(format)}`
  const advice =
    system === undefined ? `add ${opener} to codeSystems` : `it opens the format ${quoted(system.format)}, not ${quoted(format)}`
  return new OperationError('not-supported', `The code system ${url} is imported, but the context cannot open it: ${advice}.`)
}

const RELEASES: Marks<OpenRelease> = createMarks()

async function openRelease(
  ctx: OperationContext,
  concepts: ConceptStore,
  stored: StoredSystem,
  system: ImportedSystem,
): Promise<OpenRelease> {
  const key = `stored-system ${stored.key}`
  const known = ctx.cache.get(key)
  if (known !== undefined && RELEASES.has(known)) return known
  const open = system.open(await concepts.open(stored.key), stored.header)
  ctx.cache.set(key, RELEASES.mark(open), stored.concepts * system.bytesPerConcept)
  return open
}
