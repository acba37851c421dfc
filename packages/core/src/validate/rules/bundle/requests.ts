import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import type { BundleCheck } from './entry-links.js'

/** A request of a transaction or batch that does not fit its resource. */
export const BUNDLE_REQUEST: FindingDefinition = defineFinding(
  'bundle-request',
  'warning',
  'business-rule',
  'Send the resource that the request is about, to the url of its type and id.',
)

/**
 * Checks that requests which create or update have a resource, and name its type and id.
 *
 * @see https://hl7.org/fhir/R4/http.html#trules
 */
export function checkRequests({ run, bundle }: BundleCheck): void {
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
