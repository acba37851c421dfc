import { pushChildren, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
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
  if (!isObject(bundle.value)) return { entries: [], byFullUrl: new Map(), byAddress: new Map() }
  const known = run.targets.bundles.get(bundle.value)
  if (known !== undefined) return known
  const entries = entriesOf(run, bundle)
  const index = { entries, byFullUrl: groupBy(entries, 'fullUrl'), byAddress: groupBy(entries, 'address') }
  run.targets.bundles.set(bundle.value, index)
  return index
}

function entriesOf(run: Run, bundle: FhirNode): readonly BundleEntry[] {
  const nodes: FhirNode[] = []
  pushChildren(run.model, bundle, { name: 'entry', into: nodes })
  return nodes.flatMap((entry) => {
    const inner: FhirNode[] = []
    pushChildren(run.model, entry, { name: 'resource', into: inner })
    return inner.map((resource) => ({ entry, resource, fullUrl: textOf(entry, 'fullUrl'), address: addressOf(resource) }))
  })
}

function addressOf(resource: FhirNode): string | undefined {
  const id = textOf(resource, 'id')
  return id === undefined ? undefined : `${resource.type.name}/${id}`
}

function textOf({ value }: FhirNode, name: string): string | undefined {
  return isObject(value) ? stringAt(value, name) : undefined
}

function groupBy(entries: readonly BundleEntry[], key: 'fullUrl' | 'address'): ReadonlyMap<string, readonly BundleEntry[]> {
  const groups = new Map<string, BundleEntry[]>()
  for (const entry of entries) {
    const value = entry[key]
    if (value === undefined) continue
    const group = groups.get(value)
    if (group === undefined) groups.set(value, [entry])
    else group.push(entry)
  }
  return groups
}
