import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { BundleEntry, BundleIndex } from '../../run/indexes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { bundleIndexWork, referenceOf } from '../reference/resolve-locally.js'
import { linksIn, type EntryLink, type BundleCheck, checkReachability, BUNDLE_ENTRY_UNREACHABLE } from './entry-links.js'
import {
  checkEntryReferences,
  checkReferenceForms,
  BUNDLE_REFERENCE_OPEN,
  BUNDLE_REFERENCE_MISSING,
  BUNDLE_REFERENCE_AMBIGUOUS,
} from './entry-references.js'
import { checkBundleLinks, checkFullUrls, BUNDLE_FULL_URL, BUNDLE_LINK, BUNDLE_STYLE_SHEET } from './full-urls-and-links.js'
import { checkSearchSet, BUNDLE_SEARCH } from './search-set.js'

const BUNDLE_HEADER: FindingDefinition = defineFinding(
  'bundle-header',
  'error',
  'invalid',
  'Put the Composition of a document, or the MessageHeader of a message, into the first entry.',
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
async function checkBundle(run: Run, bundle: FhirNode): Promise<void> {
  const type = textOf(bundle, 'type') ?? ''
  const index = await run.scheduler.run(bundleIndexWork(run, bundle))
  const check = { run, bundle, type, index, linksOf: linkCollector(run, index) }
  const rules = [...ON_ALL, ...(BY_TYPE.get(type) ?? [])]
  for (const entry of rules.length > ON_ALL.length ? index.entries : []) {
    check.linksOf(entry)
    run.scheduler.step()
    await run.scheduler.turn()
  }
  for (const rule of rules) {
    rule(check)
    await run.scheduler.turn()
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
      const text = problemOf(run, { request, resource: childrenOf(run, entry, 'resource')[0] })
      if (text !== undefined) run.findings.report(BUNDLE_REQUEST, request, { text })
    }
  }
}

/** `Type`, `Type/id` or `Type?criteria`; other urls are of operations, or of other servers. */
const ADDRESS = /^([A-Z][A-Za-z]*)(?:\/([A-Za-z0-9.-]{1,64}))?(?:\?|$)/

function problemOf(run: Run, { request, resource }: { request: FhirNode; resource: FhirNode | undefined }): string | undefined {
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
