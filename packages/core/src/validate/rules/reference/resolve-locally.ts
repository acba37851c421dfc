import { pushChildren, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { finished, type Work } from '../../../work/index.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { BundleEntry, BundleIndex } from '../../run/indexes.js'
import { resourceOf, type Run } from '../../run/run.js'

/** The target of a reference within the validated resource: a contained resource, or an entry of the Bundle around the node. */
export function resolveLocally(run: Run, node: FhirNode, reference: string): FhirNode | undefined {
  if (reference.startsWith('#')) return containedOf(run, node, reference.slice(1))
  return entriesFor(run, node, reference)[0]?.resource
}

/** The text of a Reference, or of an element that is a canonical or uri itself. */
export function referenceOf({ value }: FhirNode): string | undefined {
  if (typeof value === 'string') return value
  return isObject(value) ? stringAt(value, 'reference') : undefined
}

/**
 * The contained resource with an id, or the container itself for `#`, which only contained resources may use.
 *
 * @see https://hl7.org/fhir/R4/references.html#contained
 */
export function containedOf(run: Run, node: FhirNode, id: string): FhirNode | undefined {
  const container = containerOf(node)
  if (id !== '') return containedIn(run, container).get(id)
  return resourceOf(node) === container ? undefined : container
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

/** The outermost resource that has the same contained resources as a node. */
export function containerOf(node: FhirNode): FhirNode {
  let current = node
  while (current.parent !== undefined && (current.type.kind !== 'resource' || current.slot?.name === 'contained')) current = current.parent
  return current
}

/** The entries of the Bundle around a node to which an absolute or relative reference leads, by the rules of fullUrl. */
export function entriesFor(run: Run, node: FhirNode, reference: string): readonly BundleEntry[] {
  const entry = entryAround(node)
  if (entry?.parent === undefined) return NONE
  const { byFullUrl, bases } = bundleIndex(run, entry.parent)
  const [plain = ''] = reference.split('#', 1)
  const base = SCHEME.test(plain) ? '' : bases.get(entry.value)
  if (base === undefined) return NONE
  const version = plain.includes('/_history/') ? HISTORY.exec(plain)?.[1] : undefined
  if (version === undefined) return byFullUrl.get(base + plain) ?? NONE
  const exact = (base === '' ? byFullUrl.get(plain) : undefined) ?? NONE
  const unversioned = byFullUrl.get(base + plain.replace(HISTORY, '')) ?? NONE
  return [...exact, ...unversioned].filter((target) => hasVersion(target, version))
}

const NONE: readonly BundleEntry[] = []

/** The nearest `Bundle.entry` around a node. */
export function entryAround(node: FhirNode): FhirNode | undefined {
  let current: FhirNode | undefined = node
  while (current !== undefined && !(current.slot?.name === 'entry' && current.parent?.type.name === 'Bundle')) current = current.parent
  return current
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i
const RESTFUL = /^(https?:\/\/.*\/)[A-Z][A-Za-z]{1,63}\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/
const HISTORY = /\/_history\/([A-Za-z0-9\-.]{1,64})$/

/** The base of relative references in an entry, if its fullUrl is the address of a resource on a server. */
function baseOf(entry: FhirNode): string | undefined {
  return RESTFUL.exec(textOf(entry, 'fullUrl') ?? '')?.[1]
}

function hasVersion({ resource }: BundleEntry, version: string): boolean {
  if (!isObject(resource.value)) return true
  const { meta } = resource.value
  return !isObject(meta) || meta['versionId'] === undefined || meta['versionId'] === version
}

/** The index of a Bundle, built once per walk. */
function bundleIndex(run: Run, bundle: FhirNode): BundleIndex {
  const known = isObject(bundle.value) ? run.indexes.bundles.get(bundle.value) : undefined
  return known ?? finished(bundleIndexWork(run, bundle))
}

/** Like `bundleIndex`, while other work runs in between. */
export function* bundleIndexWork(run: Run, bundle: FhirNode): Work<BundleIndex> {
  if (!isObject(bundle.value)) return { entries: [], byFullUrl: new Map(), byAddress: new Map(), bases: new Map() }
  const known = run.indexes.bundles.get(bundle.value)
  if (known !== undefined) return known
  const entries: BundleEntry[] = []
  const byFullUrl = new Map<string, BundleEntry[]>()
  const byAddress = new Map<string, BundleEntry[]>()
  const bases = new Map<unknown, string | undefined>()
  for (const node of childrenOf(run, bundle, 'entry')) {
    bases.set(node.value, baseOf(node))
    for (const entry of entriesIn(run, node)) {
      entries.push(entry)
      addTo(byFullUrl, entry.fullUrl, entry)
      addTo(byAddress, entry.address, entry)
    }
    yield
  }
  const index = { entries, byFullUrl, byAddress, bases }
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
