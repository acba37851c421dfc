import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import { isAbsoluteUri } from '../primitive/uri.js'
import type { BundleCheck } from './check-bundle.js'

/** Relations between the pages of an answer. */
const PAGES: ReadonlySet<string> = new Set(['first', 'previous', 'prev', 'next', 'last'])
const STYLE_SHEET_OF_FHIR = /^https?:\/\/hl7\.org\/fhir\/fhir\.css$/

/** Checks that each relation stands once, that only answers have pages, and that style sheets of documents are at hand. */
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
    run.sink.report('bundle-link', link, { text: `There is more than one link with the relation ${quoted(relation)}.`, ...place })
  if (isPage && !hasPages)
    run.sink.report('bundle-link', link, {
      text: `A Bundle of type ${quoted(type)} has no pages, so no link ${quoted(relation)}.`,
      ...place,
    })
}

function checkStyleSheet({ run, index }: BundleCheck, link: FhirNode): void {
  const url = textOf(link, 'url')
  if (url === undefined || index.byFullUrl.has(url) || index.byAddress.has(url)) return
  if (!isAbsoluteUri(url)) {
    run.sink.report('bundle-style-sheet', link, { text: `There is no style sheet ${quoted(url)} in the Bundle.`, at: 'url' })
    return
  }
  const warn = (text: string): void =>
    run.sink.report('bundle-style-sheet', link, { text, at: 'url', severity: 'warning', code: 'business-rule' })
  if (!STYLE_SHEET_OF_FHIR.test(url)) warn('Style sheets should be in the Bundle; the only other one is https://hl7.org/fhir/fhir.css.')
  if (!url.startsWith('https:')) warn(`The style sheet ${quoted(url)} can be changed on its way; use https.`)
}
