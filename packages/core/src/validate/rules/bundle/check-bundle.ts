import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, stringAt } from '../../../json/index.js'
import type { Work } from '../../../work/index.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import type { BundleEntry, BundleIndex } from '../../run/indexes.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { ResourceRule, Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/text.js'
import { bundleIndexWork, referenceOf } from '../reference/resolve-locally.js'
import { MAY_LACK_FULL_URL, BUNDLE_ENTRY_UNREACHABLE, type BundleCheck, checkReachability, type EntryLink, linksIn } from './entry-links.js'
import {
  BUNDLE_REFERENCE_AMBIGUOUS,
  BUNDLE_REFERENCE_MISSING,
  BUNDLE_REFERENCE_OPEN,
  checkEntryReferences,
  checkReferenceForms,
} from './entry-references.js'

const BUNDLE_HEADER: FindingDefinition = defineFinding(
  'bundle-header',
  'error',
  'invalid',
  'Put the Composition of a document, or the MessageHeader of a message, into the first entry.',
)

/** The fullUrl of an entry that is missing, not absolute, or does not match the type and id of its resource. */
const BUNDLE_FULL_URL: FindingDefinition = defineFinding(
  'bundle-full-url',
  'error',
  'invalid',
  'Give the entry an absolute fullUrl that matches the type and id of its resource.',
)
/** A link of a Bundle that occurs twice, or that its type does not have. */
const BUNDLE_LINK: FindingDefinition = defineFinding(
  'bundle-link',
  'error',
  'invalid',
  'Keep one link for each relation, and only relations that this type of Bundle has.',
)
/** A style sheet of a document that is not in the Bundle. */
const BUNDLE_STYLE_SHEET: FindingDefinition = defineFinding(
  'bundle-style-sheet',
  'error',
  'not-found',
  'Include the style sheet in the Bundle.',
)
/** A missing or wrong part of a searchset: self link, search modes, ids, resources of other types. */
const BUNDLE_SEARCH: FindingDefinition = defineFinding(
  'bundle-search',
  'error',
  'invalid',
  'Add what a search result needs: a self link, search modes and ids.',
)

type BundleRule = (check: BundleCheck) => void

const ON_ALL: readonly BundleRule[] = [checkFullUrls, checkBundleLinks, checkSigners]

/** Rules by type of Bundle. A history has several versions of a resource, so it is not an error there if a reference matches several entries. */
const BY_TYPE: ReadonlyMap<string, readonly BundleRule[]> = new Map([
  ['document', [checkHeader, checkEntryReferences, checkReachability]],
  ['message', [checkHeader, checkEntryReferences, checkReachability]],
  ['searchset', [checkEntryReferences, checkSearchSet]],
  ['collection', [checkEntryReferences]],
  ['transaction', [checkEntryReferences, checkRequests]],
  ['batch', [checkEntryReferences, checkRequests]],
  ['history', [checkReferenceForms]],
  ['transaction-response', [checkReferenceForms]],
  ['batch-response', [checkReferenceForms]],
])

/** A request of a transaction or batch that does not fit its resource. */
const BUNDLE_REQUEST: FindingDefinition = defineFinding(
  'bundle-request',
  'warning',
  'business-rule',
  'Send the resource that the request is about, to the url of its type and id.',
)

/** Bundles. */
export const bundleRule: ResourceRule = {
  on: ['Bundle'],
  finds: [
    BUNDLE_FULL_URL,
    BUNDLE_HEADER,
    BUNDLE_LINK,
    BUNDLE_STYLE_SHEET,
    BUNDLE_SEARCH,
    BUNDLE_REQUEST,
    BUNDLE_REFERENCE_MISSING,
    BUNDLE_REFERENCE_AMBIGUOUS,
    BUNDLE_REFERENCE_OPEN,
    BUNDLE_ENTRY_UNREACHABLE,
  ],
  check: checkBundle,
}

/** Checks a Bundle as a whole, by its type. Collecting links takes most of the time, so other requests can run after each entry. */
function* checkBundle(run: Run, bundle: FhirNode): Work<void> {
  const type = textOf(bundle, 'type') ?? ''
  const index = yield* bundleIndexWork(run, bundle)
  const check = { run, bundle, type, index, linksOf: linkCollector(run, index) }
  const rules = [...ON_ALL, ...(BY_TYPE.get(type) ?? [])]
  for (const entry of rules.length > ON_ALL.length ? index.entries : []) {
    check.linksOf(entry)
    run.scheduler.step()
    yield
  }
  for (const rule of rules) {
    rule(check)
    yield
  }
}

function linkCollector(run: Run, index: BundleIndex): BundleCheck['linksOf'] {
  const known = new Map<BundleEntry, readonly EntryLink[]>()
  return (entry) => {
    const links = known.get(entry) ?? linksIn(run, entry, index)
    known.set(entry, links)
    return links
  }
}

/** The type of the first resource, by type of Bundle. */
const HEADERS: ReadonlyMap<string, string> = new Map([
  ['document', 'Composition'],
  ['message', 'MessageHeader'],
])

/** Checks that a document begins with its Composition, and a message with its MessageHeader. */
function checkHeader({ run, bundle, type }: BundleCheck): void {
  const header = HEADERS.get(type) ?? ''
  const [entry] = childrenOf(run, bundle, 'entry')
  const [resource] = entry === undefined ? [] : childrenOf(run, entry, 'resource')
  if (resource?.type.name === header) return
  const found = resource === undefined ? '' : `, not ${quoted(resource.type.name)}`
  run.findings.report(BUNDLE_HEADER, resource ?? entry ?? bundle, {
    text: `The first entry of a Bundle of type ${quoted(type)} must be a ${header}${found}.`,
  })
}

/** Checks that the signers of a Bundle are in it, if URNs refer to them. */
function checkSigners({ run, bundle, index }: BundleCheck): void {
  for (const signature of childrenOf(run, bundle, 'signature')) {
    for (const signer of ['who', 'onBehalfOf'].flatMap((name) => childrenOf(run, signature, name))) {
      const reference = referenceOf(signer)
      if (reference?.startsWith('urn:') !== true || index.byFullUrl.has(reference)) continue
      run.findings.report(BUNDLE_REFERENCE_OPEN, signer, {
        text: `Can't find ${quoted(reference)} in the bundle, and URNs cannot be resolved elsewhere.`,
      })
    }
  }
}

/**
 * Checks that requests which create or update have a resource, and name its type and id.
 *
 * @see https://hl7.org/fhir/R4/http.html#trules
 */
function checkRequests({ run, bundle }: BundleCheck): void {
  for (const entry of childrenOf(run, bundle, 'entry')) {
    for (const request of childrenOf(run, entry, 'request')) {
      const text = requestProblem(run, { request, resource: childrenOf(run, entry, 'resource')[0] })
      if (text !== undefined) run.findings.report(BUNDLE_REQUEST, request, { text })
    }
  }
}

/** `Type`, `Type/id` or `Type?criteria`; other urls are of operations, or of other servers. */
const ADDRESS = /^([A-Z][A-Za-z]*)(?:\/([A-Za-z0-9.-]{1,64}))?(?:\?|$)/

function requestProblem(run: Run, { request, resource }: { request: FhirNode; resource: FhirNode | undefined }): string | undefined {
  const method = textOf(request, 'method')
  const [, type, id] = ADDRESS.exec(textOf(request, 'url') ?? '') ?? []
  if ((method !== 'POST' && method !== 'PUT') || type === undefined || run.model.type(type)?.kind !== 'resource') return undefined
  if (resource === undefined) return `A ${method} to ${quoted(type)} needs a resource.`
  if (resource.type.name !== type) return `The request is for ${quoted(type)}, but the resource is a ${resource.type.name}.`
  const own = textOf(resource, 'id')
  return method === 'PUT' && id !== undefined && own !== undefined && own !== id
    ? `The request is for the id ${quoted(id)}, but the resource has the id ${quoted(own)}.`
    : undefined
}

/**
 * Checks that entries have a fullUrl, that it is absolute, and that one of a RESTful server has the type and id of the resource.
 *
 * @see https://hl7.org/fhir/R4/bundle.html#bundle-unique
 */
function checkFullUrls({ run, bundle, type, index }: BundleCheck): void {
  if (!MAY_LACK_FULL_URL.has(type)) {
    const lacking = childrenOf(run, bundle, 'entry').filter((entry) => textOf(entry, 'fullUrl') === undefined)
    for (const entry of lacking) run.findings.report(BUNDLE_FULL_URL, entry, { text: 'The entry must have a fullUrl.' })
  }
  for (const entry of index.entries) {
    run.scheduler.step()
    const text = fullUrlProblem(run, entry)
    if (text !== undefined) run.findings.report(BUNDLE_FULL_URL, entry.entry, { text })
    const mismatch = canonicalProblem(entry)
    if (mismatch !== undefined) run.findings.report(BUNDLE_FULL_URL, entry.entry, { text: mismatch })
  }
}

/** A definition can have its canonical as fullUrl only if that ends with its id, as on the server that publishes it. */
function canonicalProblem({ fullUrl, resource }: BundleEntry): string | undefined {
  const url = textOf(resource, 'url')
  if (url === undefined || url !== fullUrl || /^http:\/\/(?:hl7\.org\/fhir|terminology\.hl7\.org)\//.test(url)) return undefined
  const id = textOf(resource, 'id') ?? ''
  if (RESTFUL.test(url) && url.endsWith(`/${id}`)) return undefined
  return `The canonical url ${quoted(url)} cannot be the fullUrl, unless it ends with the id of the resource.`
}

const RESTFUL = /^https?:\/\/.+\/([A-Z][A-Za-z]{1,63})\/([A-Za-z0-9\-.]{1,64})$/

function fullUrlProblem({ model }: Run, { fullUrl, resource }: BundleEntry): string | undefined {
  if (fullUrl === undefined) return undefined
  if (!isAbsoluteUri(fullUrl) || /\s/.test(fullUrl)) return `The fullUrl must be an absolute URL, not ${quoted(fullUrl)}.`
  const type = RESTFUL.exec(fullUrl)?.[1]
  if (type === undefined || model.type(type)?.kind !== 'resource') return undefined
  const id = textOf(resource, 'id')
  if (id === undefined) return `The fullUrl ${quoted(fullUrl)} looks like a RESTful server URL, but the resource has no id.`
  if (fullUrl.endsWith(`/${resource.type.name}/${id}`)) return undefined
  return `The fullUrl ${quoted(fullUrl)} looks like a RESTful server URL, so it must end with /${resource.type.name}/${id}.`
}

/** Relations between the pages of a result. */
const PAGES: ReadonlySet<string> = new Set(['first', 'previous', 'prev', 'next', 'last'])
const STYLE_SHEET_OF_FHIR = /^https?:\/\/hl7\.org\/fhir\/fhir\.css$/

/** Checks that each relation occurs once, that only search results and histories have pages, and that style sheets of documents are included. */
function checkBundleLinks(check: BundleCheck): void {
  const seen = new Set<string>()
  for (const link of childrenOf(check.run, check.bundle, 'link')) {
    const relation = textOf(link, 'relation') ?? ''
    if (relation === 'stylesheet') checkStyleSheet(check, link)
    else checkRelation(check, link, { relation, isRepeated: seen.has(relation) })
    seen.add(relation)
  }
}

function checkRelation(
  { run, type }: BundleCheck,
  link: FhirNode,
  { relation, isRepeated }: { relation: string; isRepeated: boolean },
): void {
  const hasPages = type === 'searchset' || type === 'history'
  const isPage = PAGES.has(relation)
  const place = hasPages ? {} : { at: 'relation' }
  if (isRepeated && ((hasPages && isPage) || relation === 'self'))
    run.findings.report(BUNDLE_LINK, link, { text: `There is more than one link with the relation ${quoted(relation)}.`, ...place })
  if (isPage && !hasPages)
    run.findings.report(BUNDLE_LINK, link, {
      text: `A Bundle of type ${quoted(type)} must not have a link ${quoted(relation)}, as it has no pages.`,
      ...place,
    })
}

function checkStyleSheet({ run, index }: BundleCheck, link: FhirNode): void {
  const url = textOf(link, 'url')
  if (url === undefined || index.byFullUrl.has(url) || index.byAddress.has(url)) return
  if (!isAbsoluteUri(url)) {
    run.findings.report(BUNDLE_STYLE_SHEET, link, { text: `The style sheet ${quoted(url)} could not be found in the Bundle.`, at: 'url' })
    return
  }
  const warn = (text: string): void =>
    run.findings.report(BUNDLE_STYLE_SHEET, link, { text, at: 'url', severity: 'warning', code: 'business-rule' })
  if (!STYLE_SHEET_OF_FHIR.test(url))
    warn('Style sheets should be in the Bundle; the only external one allowed is https://hl7.org/fhir/fhir.css.')
  if (!url.startsWith('https:')) warn(`The style sheet ${quoted(url)} can be changed in transit; use https.`)
}

/** Checks the result of a search: it states the search, entries state why they are included, and matches are of the searched types. */
function checkSearchSet(check: BundleCheck): void {
  const { run, bundle, index } = check
  if (checkPresence(check) === 0) return
  const self = selfLink(check)
  const types = self === undefined ? [] : typesOf(self, (name) => run.model.type(name)?.kind === 'resource')
  const say = (severity: Finding['severity'], text: string): void => run.findings.report(BUNDLE_SEARCH, bundle, { text, severity })
  if (self === undefined) say('warning', 'A searchset should have a self link, which states the search.')
  else if (types.length === 0) say('information', `The self link ${quoted(self)} does not identify the types that were searched.`)
  if (index.entries.some((entry) => modeOf(entry) !== undefined)) {
    for (const entry of index.entries) checkEntry(check, entry, types)
  } else checkWithoutModes(check, types)
}

/** Checks that each entry has a resource. Returns the number of entries. */
function checkPresence({ run, bundle }: BundleCheck): number {
  const entries = childrenOf(run, bundle, 'entry')
  for (const entry of entries) {
    if (childrenOf(run, entry, 'resource').length === 0)
      run.findings.report(BUNDLE_SEARCH, entry, { text: 'Every entry of a searchset must have a resource.' })
  }
  return entries.length
}

function selfLink({ run, bundle }: BundleCheck): string | undefined {
  const link = childrenOf(run, bundle, 'link').find((one) => textOf(one, 'relation') === 'self')
  return link && textOf(link, 'url')
}

/** The searched types: the last part of the path, before the `_search` of a POST, or else `_type`. */
function typesOf(url: string, isType: (name: string) => boolean): readonly string[] {
  const [address = '', query = ''] = url.split('?', 2)
  const path = address.replace(/\/_search$/, '')
  const last = path.slice(path.lastIndexOf('/') + 1)
  return isType(last) ? [last] : (new URLSearchParams(query).get('_type')?.split(',') ?? [])
}

function modeOf({ entry }: BundleEntry): string | undefined {
  return isObject(entry.value) ? stringAt(objectAt(entry.value, 'search'), 'mode') : undefined
}

function checkEntry({ run }: BundleCheck, entry: BundleEntry, types: readonly string[]): void {
  const mode = modeOf(entry)
  const type = entry.resource.type.name
  const say = (text: string): void => run.findings.report(BUNDLE_SEARCH, entry.resource, { text })
  if (mode === undefined) {
    run.findings.report(BUNDLE_SEARCH, entry.entry, {
      text: 'The entry should have a search mode, because others have one.',
      severity: 'warning',
    })
    return
  }
  if (mode === 'outcome') {
    if (type !== 'OperationOutcome') say(`An entry with the mode outcome must be an OperationOutcome, not ${quoted(type)}.`)
    return
  }
  if (textOf(entry.resource, 'id') === undefined) say('A resource in a searchset must have an id.')
  if (mode === 'match' && types.length > 0 && !types.includes(type))
    say(`A match must be of a searched type, ${types.join(' or ')}, not ${quoted(type)}.`)
}

/** Checks entries without modes. They need none if all are of the one searched type. */
function checkWithoutModes({ run, bundle, index }: BundleCheck, types: readonly string[]): void {
  const warn = (node: FhirNode, text: string): void => run.findings.report(BUNDLE_SEARCH, node, { text, severity: 'warning' })
  for (const { entry, resource } of index.entries) {
    const type = resource.type.name
    if (types.length > 0 && !types.includes(type))
      warn(entry, `The entry should have a search mode, because ${quoted(type)} is none of the searched types.`)
    else if (type !== 'OperationOutcome' && textOf(resource, 'id') === undefined)
      warn(resource, 'A resource in a searchset should have an id.')
  }
  const found = new Set(index.entries.map(({ resource }) => resource.type.name))
  const isPlain = found.size <= 1 && [...found].every((type) => types.includes(type))
  if (!isPlain) warn(bundle, 'The entries of a searchset should have search modes.')
}
