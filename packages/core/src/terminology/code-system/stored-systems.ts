import type { OperationContext } from '../../context/index.js'
import type { StoredSystem, SystemSections } from '../../storage/index.js'
import { openListed, pickListedVersion } from '../listed/open-listed.js'
import { LISTED_FORMAT } from '../listed/store-concepts.js'
import { pickSnomedVersion } from '../snomed/edition.js'
import { SNOMED_FORMAT } from '../snomed/index/header.js'
import { openSnomed } from '../snomed/open-snomed.js'
import { snomedProvider } from '../snomed/provider/snomed-provider.js'
import type { CodeSystemProvider } from './provider.js'

/** How versions of one format are opened and chosen. */
interface StoredFormat {
  /** Opens a version; what it gives makes a provider for each request. */
  readonly open: (sections: SystemSections, header: string) => () => CodeSystemProvider
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
        return () => snomedProvider(system)
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
  /** The version that is asked for, or the one that is meant when none is. */
  provider(version?: string): CodeSystemProvider | undefined
  /** False once a provider has met a code that is not listed. */
  lasts(): boolean
}

/** Opens every imported version of a code system. */
export async function storedVersions(ctx: OperationContext, url: string): Promise<StoredVersions> {
  const systems = (await ctx.concepts?.systems()) ?? []
  const opened = new Map<string, () => CodeSystemProvider>()
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
    provider(version) {
      const picked = pick(versions, version)
      const provider = picked === undefined ? undefined : (made.get(picked) ?? opened.get(picked)?.())
      if (picked !== undefined && provider !== undefined) made.set(picked, provider)
      return provider
    },
    lasts: () => made.values().every(({ grammar }) => grammar?.isUsed() !== true),
  }
}

interface OpenedVersion {
  readonly provider: () => CodeSystemProvider
}

async function openedVersion(ctx: OperationContext, system: StoredSystem, format: StoredFormat): Promise<() => CodeSystemProvider> {
  const key = `stored-system ${system.key}`
  const known = ctx.cache.get(key)
  if (known !== undefined && isOpened(known)) return known.provider
  const sections = await ctx.concepts?.open(system.key)
  const provider = sections === undefined ? undefined : format.open(sections, system.header)
  if (provider === undefined) throw new TypeError('A stored system has no store.')
  ctx.cache.set(key, { provider }, system.concepts * format.bytesPerConcept)
  return provider
}

function isOpened(value: object): value is OpenedVersion {
  return 'provider' in value
}
