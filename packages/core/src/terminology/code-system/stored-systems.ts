import { createPace, type OperationContext } from '../../context/index.js'
import type { StoredSystem, SystemSections } from '../../storage/index.js'
import { openListed, pickListedVersion } from '../listed/open-listed.js'
import { LISTED_FORMAT } from '../listed/store-concepts.js'
import { pickSnomedVersion } from '../snomed/edition.js'
import { SNOMED_FORMAT } from '../snomed/index/header.js'
import { openSnomed } from '../snomed/open-snomed.js'
import { snomedProvider } from '../snomed/provider/snomed-provider.js'
import { paced } from '../../work/index.js'
import type { OpenedSystem } from './opened-system.js'
import type { CodeSystemProvider } from './provider.js'

/** How versions of one format are opened and chosen. */
interface StoredFormat {
  readonly open: (sections: SystemSections, header: string) => OpenedSystem
  readonly pick: (versions: readonly string[], asked: string | undefined) => string | undefined
  /** What an opened version comes to take in memory, for each of its concepts. */
  readonly bytesPerConcept: number
}

/** Every format of imported code systems. */
const FORMATS: ReadonlyMap<string, StoredFormat> = new Map<string, StoredFormat>([
  [
    SNOMED_FORMAT,
    {
      open: (sections: SystemSections, header: string) => {
        const system = openSnomed(sections, header)
        return { provider: () => snomedProvider(system) }
      },
      pick: pickSnomedVersion,
      bytesPerConcept: 200,
    },
  ],
  [LISTED_FORMAT, { open: openListed, pick: pickListedVersion, bytesPerConcept: 1_500 }],
])

/** The imported versions of one code system. */
export interface StoredVersions {
  readonly versions: readonly string[]
  /** True when the version, or one that is meant by it, was imported. */
  has(version: string): boolean
  /** Makes what `provider` gives for the version, while other work runs in between. */
  prepare(version?: string): Promise<void>
  /** The version that is asked for, or the one that is meant when none is. */
  provider(version?: string): CodeSystemProvider | undefined
  /** False once a provider has met a code that is not listed. */
  lasts(): boolean
}

/** Opens every imported version of a code system. */
export async function storedVersions(ctx: OperationContext, url: string): Promise<StoredVersions> {
  const systems = (await ctx.concepts?.systems()) ?? []
  const opened = new Map<string, OpenedSystem>()
  let pick: StoredFormat['pick'] = () => undefined
  for (const system of systems) {
    const format = FORMATS.get(system.format)
    if (system.url !== url || format === undefined) continue
    opened.set(system.version, await openedVersion(ctx, system, format))
    ;({ pick } = format)
  }
  const made = new Map<string, CodeSystemProvider>()
  const versions = [...opened.keys()]
  return {
    versions,
    has: (version) => pick(versions, version) !== undefined,
    async prepare(version) {
      const build = opened.get(pick(versions, version) ?? '')?.build
      if (build !== undefined) await paced(build(), createPace(ctx))
    },
    provider(version) {
      const picked = pick(versions, version)
      const provider = picked === undefined ? undefined : (made.get(picked) ?? opened.get(picked)?.provider())
      if (picked !== undefined && provider !== undefined) made.set(picked, provider)
      return provider
    },
    lasts: () => made.values().every(({ grammar }) => grammar?.isUsed() !== true),
  }
}

interface KeptVersion {
  readonly opened: OpenedSystem
}

async function openedVersion(ctx: OperationContext, system: StoredSystem, format: StoredFormat): Promise<OpenedSystem> {
  const key = `stored-system ${system.key}`
  const known = ctx.cache.get(key)
  if (known !== undefined && isKeptVersion(known)) return known.opened
  const sections = await ctx.concepts?.open(system.key)
  if (sections === undefined) throw new TypeError('A stored system has no store.')
  const opened = format.open(sections, system.header)
  ctx.cache.set(key, { opened } satisfies KeptVersion, system.concepts * format.bytesPerConcept)
  return opened
}

function isKeptVersion(value: object): value is KeptVersion {
  return 'opened' in value
}
