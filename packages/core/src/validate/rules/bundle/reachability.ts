import { quoted } from '../../../errors/index.js'
import { defineFinding, type FindingDefinition, type Finding } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { BundleEntry } from '../../run/indexes.js'
import { targetsOf, type BundleCheck } from './entry-links.js'

/** An entry of a document or message to which no link leads from the Composition or MessageHeader. */
export const BUNDLE_ENTRY_UNREACHABLE: FindingDefinition = defineFinding(
  'bundle-entry-unreachable',
  'error',
  'informational',
  'Refer to the entry from the Composition or MessageHeader, or remove it.',
)

/** How an entry is reported that is not linked with the header. */
interface Manner {
  readonly header: string
  readonly orphan: Finding['severity']
  readonly backward: Pick<Finding, 'severity' | 'code'>
}

const MANNERS: ReadonlyMap<string, Manner> = new Map([
  ['document', { header: 'Composition', orphan: 'error', backward: { severity: 'warning', code: 'invalid' } }],
  ['message', { header: 'MessageHeader', orphan: 'warning', backward: { severity: 'information', code: 'informational' } }],
])

/**
 * Checks that every entry of a document or message is connected with its header: links lead from the header to it, or from it to an entry that is
 * connected. The latter is meant for Provenance.
 *
 * @see https://hl7.org/fhir/R4/documents.html#content
 */
export function checkReachability(check: BundleCheck): void {
  const { run, type, index } = check
  const [header] = index.entries
  const manner = MANNERS.get(type)
  if (manner === undefined || header === undefined) return
  const links = linksBetween(check)
  const starts = [header, ...styleSheets(check)]
  const forward = reached(starts, (entry) => links.targets.get(entry) ?? [])
  const both = reached(starts, (entry) => [...(links.targets.get(entry) ?? []), ...(links.sources.get(entry) ?? [])])
  for (const entry of index.entries) {
    const name = quoted(entry.fullUrl ?? entry.address ?? entry.resource.type.name)
    if (!both.has(entry)) {
      run.findings.report(BUNDLE_ENTRY_UNREACHABLE, entry.entry, {
        text: `The entry ${name} isn't reachable by traversing links (forward or backward) from the ${manner.header}.`,
        severity: manner.orphan,
      })
    } else if (!forward.has(entry) && entry.resource.type.name !== 'Provenance') {
      run.findings.report(BUNDLE_ENTRY_UNREACHABLE, entry.entry, {
        text: `The entry ${name} isn't reachable by traversing forwards from the ${manner.header}.`,
        ...manner.backward,
      })
    }
  }
}

/** Groups of entries that one reference can mean, by the entry that refers to them. Entries share a group, so that many entries with one url cost no more. */
type Links = ReadonlyMap<BundleEntry, readonly (readonly BundleEntry[])[]>

function linksBetween({ index, linksOf }: BundleCheck): { targets: Links; sources: Links } {
  const targets = new Map<BundleEntry, (readonly BundleEntry[])[]>()
  const sourcesOf = new Map<readonly BundleEntry[], BundleEntry[]>()
  for (const entry of index.entries) {
    for (const { target, isReference } of linksOf(entry)) {
      if (!isReference && target.includes('#')) continue
      const group = targetsOf(entry, target, index)
      add(targets, entry, group)
      add(sourcesOf, group, entry)
    }
  }
  const sources = new Map<BundleEntry, (readonly BundleEntry[])[]>()
  for (const [group, entries] of sourcesOf) for (const member of group) add(sources, member, entries)
  return { targets, sources }
}

function add<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** The style sheets that the Bundle itself links to. */
function styleSheets({ run, bundle, index }: BundleCheck): readonly BundleEntry[] {
  const links = childrenOf(run, bundle, 'link').filter((link) => textOf(link, 'relation') === 'stylesheet')
  return links.flatMap((link) => {
    const url = textOf(link, 'url') ?? ''
    return index.byFullUrl.get(url) ?? index.byAddress.get(url) ?? []
  })
}

function reached(
  starts: readonly BundleEntry[],
  next: (entry: BundleEntry) => readonly (readonly BundleEntry[])[],
): ReadonlySet<BundleEntry> {
  const seen = new Set(starts)
  const done = new Set<readonly BundleEntry[]>()
  for (const entry of seen) {
    for (const group of next(entry)) {
      if (done.has(group)) continue
      done.add(group)
      for (const other of group) seen.add(other)
    }
  }
  return seen
}
