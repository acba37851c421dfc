import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { finished, type Work } from '../../../work/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'

/** An entry of a Bundle with a resource. */
export interface BundleEntry {
  readonly entry: FhirNode
  readonly resource: FhirNode
  readonly fullUrl: string | undefined
  /** `Type/id`, when the resource has an id. */
  readonly address: string | undefined
}

/** What references within a Bundle can lead to. */
export interface BundleIndex {
  readonly entries: readonly BundleEntry[]
  readonly byFullUrl: ReadonlyMap<string, readonly BundleEntry[]>
  readonly byAddress: ReadonlyMap<string, readonly BundleEntry[]>
}

/** The index of a Bundle, made once per walk. */
export function bundleIndex(run: Run, bundle: FhirNode): BundleIndex {
  return finished(bundleIndexWork(run, bundle))
}

/** The same, while other work runs in between. */
export function* bundleIndexWork(run: Run, bundle: FhirNode): Work<BundleIndex> {
  if (!isObject(bundle.value)) return { entries: [], byFullUrl: new Map(), byAddress: new Map() }
  const known = run.targets.bundles.get(bundle.value)
  if (known !== undefined) return known
  const entries: BundleEntry[] = []
  const byFullUrl = new Map<string, BundleEntry[]>()
  const byAddress = new Map<string, BundleEntry[]>()
  for (const node of childrenOf(run, bundle, 'entry')) {
    for (const entry of entriesIn(run, node)) {
      entries.push(entry)
      addTo(byFullUrl, entry.fullUrl, entry)
      addTo(byAddress, entry.address, entry)
    }
    yield
  }
  const index = { entries, byFullUrl, byAddress }
  run.targets.bundles.set(bundle.value, index)
  return index
}

function entriesIn(run: Run, entry: FhirNode): readonly BundleEntry[] {
  const resources = childrenOf(run, entry, 'resource')
  return resources.map((resource) => ({ entry, resource, fullUrl: textOf(entry, 'fullUrl'), address: addressOf(resource) }))
}

function addressOf(resource: FhirNode): string | undefined {
  const id = textOf(resource, 'id')
  return id === undefined ? undefined : `${resource.type.name}/${id}`
}

function addTo(groups: Map<string, BundleEntry[]>, key: string | undefined, entry: BundleEntry): void {
  if (key === undefined) return
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [entry])
  else group.push(entry)
}
