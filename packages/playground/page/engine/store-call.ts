import { resourcesIn } from '../fhir/resources.js'
import type { Call } from './call.js'

/** A transaction that stores resources under their ids. @throws {Error} for what is not a resource, or has no id. */
export function storeCall(text: string): Call {
  const entry = resourcesIn(text).map((resource) => {
    const { resourceType, id } = resource
    if (typeof id !== 'string') throw new TypeError(`A ${resourceType} without an id cannot be stored.`)
    return { resource, request: { method: 'PUT', url: `${resourceType}/${id}` } }
  })
  const transaction = { resourceType: 'Bundle', type: 'transaction', entry }
  return { method: 'POST', path: '', body: { type: 'application/fhir+json', text: JSON.stringify(transaction) } }
}
