import { quoted } from '../../../errors/index.js'
import { textOf } from '../../walk/children.js'
import { isAbsoluteUri } from '../primitive/uri.js'
import type { Run } from '../../walk/run.js'
import type { BundleEntry } from '../reference/bundle-index.js'
import type { BundleCheck } from './check-bundle.js'

/** In these types of Bundle entries may have no fullUrl: the resource is yet to be made, or the entry is about another time. */
export const MAY_LACK_FULL_URL: ReadonlySet<string> = new Set(['transaction', 'transaction-response', 'batch', 'batch-response', 'history'])

/**
 * Checks that entries have a fullUrl, that it is absolute, and that one of a RESTful server tells the type and id of the resource.
 *
 * @see https://hl7.org/fhir/R4/bundle.html#bundle-unique
 */
export function checkFullUrls({ run, type, index }: BundleCheck): void {
  for (const entry of index.entries) {
    run.step()
    const text = problemOf(run, entry, type)
    if (text !== undefined) run.sink.report('bundle-full-url', entry.entry, { text })
  }
}

const RESTFUL = /^https?:\/\/.+\/([A-Z][A-Za-z]{1,63})\/([A-Za-z0-9\-.]{1,64})$/

function problemOf({ model }: Run, { fullUrl, resource }: BundleEntry, bundleType: string): string | undefined {
  if (fullUrl === undefined) return MAY_LACK_FULL_URL.has(bundleType) ? undefined : 'The entry needs a fullUrl.'
  if (!isAbsoluteUri(fullUrl)) return `The fullUrl must be an absolute URL, not ${quoted(fullUrl)}.`
  const type = RESTFUL.exec(fullUrl)?.[1]
  if (type === undefined || model.type(type)?.kind !== 'resource') return undefined
  const id = textOf(resource, 'id')
  if (id === undefined) return `The fullUrl ${quoted(fullUrl)} is that of a resource on a server, but the resource has no id.`
  if (fullUrl.endsWith(`/${resource.type.name}/${id}`)) return undefined
  return `The fullUrl ${quoted(fullUrl)} is that of a resource on a server, so it must end with /${resource.type.name}/${id}.`
}
