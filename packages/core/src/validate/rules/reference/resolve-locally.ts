import { pushChildren, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { finished, type Work } from '../../../work/index.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { BundleEntry, BundleIndex, Run } from '../../run/run.js'

/** The resource that a reference leads to without leaving what is validated: a contained resource, or an entry of the Bundle around it. */
export function resolveLocally(run: Run, node: FhirNode, reference: string): FhirNode | undefined {
  if (reference.startsWith('#')) return containedOf(run, node, reference.slice(1))
  return entriesFor(run, node, reference)[0]?.resource
}

/** The text of a Reference, or of an element that is a canonical or uri itself. */
export function referenceOf({ value }: FhirNode): string | undefined {
  if (typeof value === 'string') return value
  return isObject(value) ? stringAt(value, 'reference') : undefined
}

/** The contained resource with an id, or the container itself for `#`. */
export function containedOf(run: Run, node: FhirNode, id: string): FhirNode | undefined {
  const container = containerOf(node)
  return id === '' ? container : containedIn(run, container).get(id)
}

function containedIn(run: Run, container: FhirNode): ReadonlyMap<string, FhirNode> {
  if (!isObject(container.value)) return new Map()
  const known = run.indexes.contained.get(container.value)
  if (known !== undefined) return known
  const contained: FhirNode[] = []
  pushChildren(run.model, container, { name: 'contained', into: contained })
  const byId = new Map(contained.flatMap((one) => (isObject(one.value) ? [[stringAt(one.value, 'id') ?? '', one] as const] : [])))
  run.indexes.contained.set(container.value, byId)
  return byId
}

/** The outermost resource that a node shares its contained resources with. */
export function containerOf(node: FhirNode): FhirNode {
  let current = node
  while (current.parent !== undefined && (current.type.kind !== 'resource' || current.slot?.name === 'contained')) current = current.parent
  return current
}

/** The entries of the Bundle around a node that an absolute or relative reference leads to, by the rules of fullUrl. */
export function entriesFor(run: Run, node: FhirNode, reference: string): readonly BundleEntry[] {
  const entry = entryAround(node)
  if (entry?.parent === undefined) return []
  const index = bundleIndex(run, entry.parent)
  const plain = reference.split('#', 1)[0] ?? ''
  const found = absoluteForms(plain, entry).flatMap((url) => index.byFullUrl.get(url) ?? [])
  return found.filter((target) => hasVersion(target, plain))
}

/** The nearest `Bundle.entry` that a node is in. */
export function entryAround(node: FhirNode): FhirNode | undefined {
  let current: FhirNode | undefined = node
  while (current !== undefined && !(current.slot?.name === 'entry' && current.parent?.type.name === 'Bundle')) current = current.parent
  return current
}

const RESTFUL = /^(https?:\/\/.*\/)[A-Z][A-Za-z]{1,63}\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/
const HISTORY = /\/_history\/([A-Za-z0-9\-.]{1,64})$/

function absoluteForms(reference: string, entry: FhirNode): readonly string[] {
  const unversioned = reference.replace(HISTORY, '')
  if (/^[a-z][a-z0-9+.-]*:/i.test(reference)) return unversioned === reference ? [reference] : [reference, unversioned]
  const fullUrl = isObject(entry.value) ? stringAt(entry.value, 'fullUrl') : undefined
  const base = RESTFUL.exec(fullUrl ?? '')?.[1]
  return base === undefined ? [] : [base + unversioned]
}

function hasVersion({ resource }: BundleEntry, reference: string): boolean {
  const version = HISTORY.exec(reference)?.[1]
  if (version === undefined || !isObject(resource.value)) return true
  const { meta } = resource.value
  return !isObject(meta) || meta['versionId'] === undefined || meta['versionId'] === version
}

/** The index of a Bundle, made once per walk. */
function bundleIndex(run: Run, bundle: FhirNode): BundleIndex {
  return finished(bundleIndexWork(run, bundle))
}

/** The same, while other work runs in between. */
export function* bundleIndexWork(run: Run, bundle: FhirNode): Work<BundleIndex> {
  if (!isObject(bundle.value)) return { entries: [], byFullUrl: new Map(), byAddress: new Map() }
  const known = run.indexes.bundles.get(bundle.value)
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
  run.indexes.bundles.set(bundle.value, index)
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
