import type { PackageFile, PackageManifest } from 'fhir-ops/packages'
import type { Source } from './sources.js'

/** What a definition is in its package. */
export interface PackagePlace extends Omit<PackageFile, 'name' | 'text'> {
  readonly manifest: PackageManifest
}

/** Keeps the books on the packages of one load. */
export interface PackageBooks {
  /** Gives what comes from a package an id that no other definition of the load has. */
  enter(source: Source): Source
  /** The packages so far, in order. */
  manifests(): readonly PackageManifest[]
}

/** Starts the books of a load. */
export function packageBooks(): PackageBooks {
  const manifests = new Map<string, PackageManifest>()
  const canonicals = new Map<string, string>()
  return {
    enter({ origin, ...source }) {
      if (origin === undefined) return source
      manifests.set(`${origin.manifest.name}#${origin.manifest.version}`, origin.manifest)
      const canonical = `${origin.url}|${origin.version}`
      const place = `${origin.type}/${origin.id}`
      const known = canonicals.get(place) ?? canonical
      canonicals.set(place, known)
      return known === canonical ? source : { ...source, id: otherId(origin) }
    },
    manifests: () => [...manifests.values()],
  }
}

const MAX_ID = 64

function otherId({ id = '', version, manifest }: PackagePlace): string {
  const suffix = `-${version ?? manifest.version}`.replaceAll(/[^A-Za-z0-9.-]/g, '-')
  return id.slice(0, MAX_ID - suffix.length) + suffix
}
