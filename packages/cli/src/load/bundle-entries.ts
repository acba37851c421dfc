import { jsonItems, jsonMembers, stringValue, valuesByName } from 'fhir-ops/internal/json'
import { finished } from 'fhir-ops/internal/work'
import { isJson } from '../json-fault.js'

/** A resource in a Bundle. */
interface BundleEntry {
  /** Position of its entry. */
  readonly index: number
  /** The resource as compact JSON, with numbers as written. */
  readonly text: string
  /** A reference of the resource that is a search (`Organization?identifier=x`); absent if there is none. */
  readonly search?: string
}

type Members = ReadonlyMap<string, string>

/** Searched for first: most lines of a large load do not contain it, and need not be parsed to see that they are not Bundles. */
const BUNDLE = '"Bundle"'

/**
 * Returns the resources of a Bundle; `undefined` for any other resource, and for text that is not a JSON object. References to the `fullUrl` of an entry
 * that is a URN, which has no meaning outside of the Bundle, become those to the entry's resource by type and id.
 *
 * @see https://hl7.org/fhir/R4/bundle.html#references
 */
export function bundleEntries(text: string): readonly BundleEntry[] | undefined {
  if (!text.includes(BUNDLE) || !isObjectText(text)) return undefined
  const bundle = membersOf(text)
  if (bundle.get('resourceType') !== BUNDLE) return undefined
  const entries = finished(jsonItems(bundle.get('entry') ?? '[]')).map(membersOf)
  const addresses = addressesOf(entries)
  return entries.flatMap((entry, index) => {
    const resource = entry.get('resource')
    return resource === undefined ? [] : [{ index, text: relinked(resource, addresses), ...searchIn(resource) }]
  })
}

/** True for a well-formed JSON object, which the scanner requires. The loader later refuses other text, with its place. */
function isObjectText(text: string): boolean {
  return text.trimStart().startsWith('{') && isJson(text)
}

function membersOf(text: string): Members {
  return valuesByName(finished(jsonMembers(text)))
}

/** `Type/id` of each resource by its URN; `undefined` for a URN of several. */
function addressesOf(entries: readonly Members[]): ReadonlyMap<string, string | undefined> {
  const addresses = new Map<string, string | undefined>()
  for (const entry of entries) {
    const url = stringValue(entry, 'fullUrl')
    if (url?.startsWith('urn:') !== true) continue
    const resource = membersOf(entry.get('resource') ?? '{}')
    const [type, id] = [stringValue(resource, 'resourceType'), stringValue(resource, 'id')]
    if (type !== undefined && id !== undefined) addresses.set(url, addresses.has(url) ? undefined : `${type}/${id}`)
  }
  return addresses
}

/** A literal reference in compact JSON. Within a text its quotes would be escaped. */
const REFERENCE = /"reference":"([^"\\]*)"/g

function relinked(text: string, addresses: ReadonlyMap<string, string | undefined>): string {
  if (addresses.size === 0) return text
  return text.replaceAll(REFERENCE, (written, target: string) => {
    const address = addresses.get(target)
    return address === undefined ? written : `"reference":${JSON.stringify(address)}`
  })
}

function searchIn(text: string): Pick<BundleEntry, 'search'> {
  const [, search] = /"reference":"([A-Za-z]+\?[^"]*)"/.exec(text) ?? []
  return search === undefined ? {} : { search }
}
