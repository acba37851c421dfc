import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { quoted } from '../../../errors/index.js'
import { textOf, childrenOf } from '../../run/nodes.js'
import type { JsonPath } from '../../run/patch.js'
import type { BundleEntry, BundleIndex } from '../../run/indexes.js'
import type { Run } from '../../run/run.js'
import { unescaped } from '../narrative/allowed-markup.js'
import { emptyToken, readToken } from '../narrative/xhtml-tokens.js'
import { defineFinding, type FindingDefinition, type Finding } from '../../run/finding.js'

/** The Bundle that its rules check, and what they share. */
export interface BundleCheck {
  readonly run: Run
  readonly bundle: FhirNode
  readonly type: string
  readonly index: BundleIndex
  /** Links that may lead from an entry to others, collected at the first call. */
  readonly linksOf: (entry: BundleEntry) => readonly EntryLink[]
}

/** Types of Bundle whose entries may lack a fullUrl, because the resource does not exist yet. */
export const MAY_LACK_FULL_URL: ReadonlySet<string> = new Set(['transaction', 'transaction-response', 'batch', 'batch-response'])

/** Something in a resource that may lead to another entry. */
export interface EntryLink {
  readonly target: string
  /** Path from the resource to the link. */
  readonly path: JsonPath
  /** False for URIs, and links in narratives, which may lead to an entry but need not. */
  readonly isReference: boolean
}

/** Everything in an entry's resource that may lead to another entry. */
export function linksIn(run: Run, { resource }: BundleEntry, { byFullUrl }: BundleIndex): readonly EntryLink[] {
  const links: EntryLink[] = []
  /** Path to the current value; it is copied only for links. */
  const path: (string | number)[] = []
  collect(resource.value)
  return links

  function collect(value: unknown): void {
    run.scheduler.step()
    if (typeof value === 'string') collectText(value)
    else if (Array.isArray(value)) for (let index = 0; index < value.length; index++) collectAt(index, value[index])
    else if (isObject(value)) for (const name in value) if (Object.hasOwn(value, name)) collectAt(name, value[name])
  }

  function collectAt(step: string | number, value: unknown): void {
    path.push(step)
    collect(value)
    path.pop()
  }

  function collectText(text: string): void {
    const name = path.at(-1)
    if (name === 'reference' && path.length > 1) links.push({ target: text, path: path.slice(0, -1), isReference: true })
    else if (name === 'div') for (const target of linksOfNarrative(text)) links.push({ target, path: [...path], isReference: false })
    else if (byFullUrl.has(withoutFragment(text))) links.push({ target: text, path: [...path], isReference: false })
  }
}

/** Longer links embed data. */
const LONGEST_LINK = 2_000
/** After a fault the rest may be read in vain. */
const MOST_FAULTS = 100

/** The links of a narrative. What is not XHTML is skipped up to the next tag. */
function linksOfNarrative(xhtml: string): readonly string[] {
  const links: string[] = []
  if (!/href|src/.test(xhtml)) return links
  const token = emptyToken()
  let faults = 0
  for (let at = 0; at >= 0 && at < xhtml.length && faults < MOST_FAULTS;) {
    readToken(token, xhtml, at)
    if (token.kind === 'fault') faults += 1
    at = token.kind === 'fault' ? xhtml.indexOf('<', at + 1) : token.end
    if (token.kind !== 'open') continue
    for (const { name, value } of token.attributes)
      if ((name === 'href' || name === 'src') && value !== '' && value.length <= LONGEST_LINK) links.push(unescaped(value))
  }
  return links
}

const RESTFUL = /^(https?:\/\/.+\/)[A-Z][A-Za-z]{1,63}\/[A-Za-z0-9\-.]{1,64}$/
const VERSION = /\/_history\/([A-Za-z0-9\-.]{1,64})$/
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/

/**
 * The entries that a reference in an entry leads to. A relative reference is resolved against the base of the entry's own fullUrl, if that is the
 * address of the resource on a server.
 *
 * @see https://hl7.org/fhir/R4/bundle.html#references
 */
export function targetsOf(from: BundleEntry, target: string, { byFullUrl }: BundleIndex): readonly BundleEntry[] {
  const plain = withoutFragment(target)
  const url = SCHEME.test(plain) ? plain : baseOf(from) + plain
  const exact = byFullUrl.get(url)
  if (exact !== undefined) return exact
  const version = VERSION.exec(url)?.[1]
  if (version === undefined) return []
  return (byFullUrl.get(url.replace(VERSION, '')) ?? []).filter(({ resource }) => versionOf(resource.value) === version)
}

function withoutFragment(url: string): string {
  const end = url.indexOf('#')
  return end < 0 ? url : url.slice(0, end)
}

/** The base of an entry's fullUrl; empty when it has none. */
function baseOf({ fullUrl, address, resource }: BundleEntry): string {
  if (fullUrl === undefined || (address !== undefined && !fullUrl.endsWith(`/${address}`)) || textOf(resource, 'id') === undefined)
    return ''
  return RESTFUL.exec(fullUrl)?.[1] ?? ''
}

function versionOf(resource: unknown): unknown {
  return isObject(resource) && isObject(resource['meta']) ? resource['meta']['versionId'] : undefined
}

/** `Type/id` of the target of a reference, without server and version; `undefined` for references of another form. */
export function addressOf(target: string): string | undefined {
  return /(?:^|\/)([A-Z][A-Za-z]{1,63}\/[A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?(?:#|$)/.exec(target)?.[1]
}

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

/** Entries by the entry that leads to them, or that they lead to. */
type Links = ReadonlyMap<BundleEntry, readonly BundleEntry[]>

/** Connects entries. A link that several entries match leads to none of them. */
function linksBetween({ index, linksOf }: BundleCheck): { targets: Links; sources: Links } {
  const targets = new Map<BundleEntry, BundleEntry[]>()
  const sources = new Map<BundleEntry, BundleEntry[]>()
  for (const entry of index.entries) {
    for (const { target, isReference } of linksOf(entry)) {
      if (!isReference && target.includes('#')) continue
      const [found, ...others] = targetsOf(entry, target, index)
      if (found === undefined || others.length > 0) continue
      add(targets, entry, found)
      add(sources, found, entry)
    }
  }
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

function reached(starts: readonly BundleEntry[], next: (entry: BundleEntry) => readonly BundleEntry[]): ReadonlySet<BundleEntry> {
  const seen = new Set(starts)
  for (const entry of seen) for (const other of next(entry)) seen.add(other)
  return seen
}
