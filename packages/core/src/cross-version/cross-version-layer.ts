import { definitionOf, type ContentLayer, type Definition } from '../content/index.js'
import type { TypeModel } from '../fhirpath/index.js'
import type { JsonObject } from '../json/index.js'
import { extensionDefinition, valueSetUrl } from './extension-definition.js'
import { extensionElement } from './extension-url.js'
import type { OtherRelease } from './other-release.js'

/** The definitions of all extensions with elements of other releases, each made when it is asked for. */
export function crossVersionLayer(releases: readonly OtherRelease[], types: TypeModel): ContentLayer {
  const byNumber = new Map(releases.map((other) => [other.release, other]))
  const made = (type: string, url: string): JsonObject | undefined => {
    if (type === 'StructureDefinition') return madeExtension(byNumber, types, url)
    const [, release = '', kind, name = ''] = CODES.exec(url) ?? []
    const other = byNumber.get(release)
    return other === undefined || kind !== type ? undefined : madeCodes(other, type, name)
  }
  return {
    find: (type, by, value) => {
      const resource = by === 'url' ? made(type, value) : undefined
      const definition = resource && definitionOf(resource, `cross-version:${value}`)
      return Promise.resolve(definition === undefined ? [] : [definition satisfies Definition])
    },
    revision: () => 0,
  }
}

function madeExtension(byNumber: ReadonlyMap<string, OtherRelease>, types: TypeModel, url: string): JsonObject | undefined {
  const element = extensionElement(url)
  const other = element && byNumber.get(element.release)
  return other && extensionDefinition({ other, types }, { url, path: element.path.replaceAll('[x]', '') })
}

const CODES = /^http:\/\/hl7\.org\/fhir\/(\d\.\d)\/(ValueSet|CodeSystem)\/([^/]+)$/

/** A value set of another release, and the codes in it as a code system of their own. */
function madeCodes(other: OtherRelease, type: string, name: string): JsonObject | undefined {
  const codes = other.codes(`http://hl7.org/fhir/ValueSet/${name}`)
  if (codes === undefined) return undefined
  const url = valueSetUrl(other.release, name)
  const system = url.replace('/ValueSet/', '/CodeSystem/')
  const common = { resourceType: type, version: other.release, name, title: `${name} of FHIR ${other.release}`, status: 'active' }
  const concept = codes.map((code) => ({ code }))
  return type === 'ValueSet'
    ? { ...common, url, compose: { include: [{ system }] } }
    : { ...common, url: system, valueSet: url, caseSensitive: true, content: 'complete', concept }
}
