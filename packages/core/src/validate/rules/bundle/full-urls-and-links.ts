import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { BundleEntry } from '../../run/indexes.js'
import type { Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/uri.js'
import type { BundleCheck } from './entry-links.js'

/** The fullUrl of an entry that is missing, not absolute, or does not match the type and id of its resource. */
export const BUNDLE_FULL_URL: FindingDefinition = defineFinding(
  'bundle-full-url',
  'error',
  'invalid',
  'Give the entry an absolute fullUrl that matches the type and id of its resource.',
)
/** A link of a Bundle that occurs twice, or that its type does not have. */
export const BUNDLE_LINK: FindingDefinition = defineFinding(
  'bundle-link',
  'error',
  'invalid',
  'Keep one link for each relation, and only relations that this type of Bundle has.',
)
/** A style sheet of a document that is not in the Bundle. */
export const BUNDLE_STYLE_SHEET: FindingDefinition = defineFinding(
  'bundle-style-sheet',
  'error',
  'not-found',
  'Include the style sheet in the Bundle.',
)

/** Types of Bundle whose entries may lack a fullUrl, because the resource does not exist yet. */
export const MAY_LACK_FULL_URL: ReadonlySet<string> = new Set(['transaction', 'transaction-response', 'batch', 'batch-response'])

/**
 * Checks that entries have a fullUrl, that it is absolute, and that one of a RESTful server has the type and id of the resource.
 *
 * @see https://hl7.org/fhir/R4/bundle.html#bundle-unique
 */
export function checkFullUrls({ run, bundle, type, index }: BundleCheck): void {
  if (!MAY_LACK_FULL_URL.has(type)) {
    const lacking = childrenOf(run, bundle, 'entry').filter((entry) => textOf(entry, 'fullUrl') === undefined)
    for (const entry of lacking) run.findings.report(BUNDLE_FULL_URL, entry, { text: 'The entry must have a fullUrl.' })
  }
  for (const entry of index.entries) {
    run.scheduler.step()
    const text = problemOf(run, entry)
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

function problemOf({ model }: Run, { fullUrl, resource }: BundleEntry): string | undefined {
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
export function checkBundleLinks(check: BundleCheck): void {
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
