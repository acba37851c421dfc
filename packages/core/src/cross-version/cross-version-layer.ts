import { definitionOf, type ContentLayer } from '../content/index.js'
import type { TypeModel } from '../fhirpath/index.js'
import type { JsonObject } from '../json/index.js'
import type { ElementsOfRelease } from './elements.js'
import { extensionDefinition, valueSetUrl } from './extension-definition.js'
import { extensionElement } from './extension-url.js'

/** The definitions of all extensions with elements of a release, and the codes that they are bound to, each made when it is asked for. */
export function crossVersionLayer(other: ElementsOfRelease, types: TypeModel): ContentLayer {
  const made = (type: string, url: string): JsonObject | undefined => {
    if (type === 'StructureDefinition') return madeExtension(other, types, url)
    const [, release, kind, name = ''] = CODES.exec(url) ?? []
    return release === other.release && kind === type ? madeCodes(other, type, name) : undefined
  }
  return {
    find: (type, by, value) => {
      const resource = by === 'url' ? made(type, value) : undefined
      const definition = resource && definitionOf(resource, `${other.source()}:${value}`)
      return Promise.resolve(definition === undefined ? [] : [definition])
    },
    revision: () => 0,
  }
}

function madeExtension(other: ElementsOfRelease, types: TypeModel, url: string): JsonObject | undefined {
  const element = extensionElement(url)
  if (element?.release !== other.release) return undefined
  return extensionDefinition({ other, types }, { url, path: element.path.replaceAll('[x]', '') })
}

const CODES = /^http:\/\/hl7\.org\/fhir\/(\d\.\d)\/(ValueSet|CodeSystem)\/([^/]+)$/

/** A value set of another release, and the codes in it as a code system of their own. */
function madeCodes(other: ElementsOfRelease, type: string, name: string): JsonObject | undefined {
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
