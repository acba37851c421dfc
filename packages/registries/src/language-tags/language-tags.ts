import type { ComputedSystem } from 'fhir-ops/terminology'
import { builtFile, givenBytes, type RegistryFile } from '../registry-definitions.js'
import { readTag, subtagsOf, describeTag, writeTag, type LanguageTag, type SubtagRegistry } from './language-tag.js'

type PartOf = (tag: LanguageTag) => readonly (string | undefined)[]

/** Properties for filters, and the corresponding part of a tag. */
const PROPERTIES: ReadonlyMap<string, PartOf> = new Map<string, PartOf>([
  ['language', ({ language }) => [language]],
  ['ext-lang', ({ extlang }) => [extlang]],
  ['script', ({ script }) => [script]],
  ['region', ({ region }) => [region]],
  ['variant', ({ variants }) => variants],
  ['extension', ({ extensions }) => extensions],
  ['private-use', ({ privateUse }) => [privateUse]],
])

/**
 * The code system of language tags (`urn:ietf:bcp:47`), checked against the IANA registry of subtags. A tag must have the recommended capitalization
 * (`en-US`), because codes in FHIR are case-sensitive. Filters: the parts of a tag (`language`, `ext-lang`, `script`, `region`,
 * `variant`, `extension`, `private-use`) with `exists` and `=`. Lists contain the tags of the value set of common languages.
 *
 * @param file Content of `subtags.json`, instead of the package's own file.
 * @throws {TypeError} without `bytes` in a runtime without a file system.
 * @see https://www.rfc-editor.org/rfc/rfc5646
 */
export function languageTags(file: RegistryFile = {}): ComputedSystem {
  const registry = registryOf(givenBytes('languageTags', file) ?? builtFile('languageTags', 'subtags.json'))
  const read = (code: string): LanguageTag | undefined => {
    const tag = readTag(registry, code)
    return typeof tag !== 'string' && isWellWritten(tag, code) ? tag : undefined
  }
  return {
    url: 'urn:ietf:bcp:47',
    name: 'BCP47',
    language: 'en',
    caseSensitive: true,
    common: ['http://terminology.hl7.org/ValueSet/Languages', 'http://hl7.org/fhir/ValueSet/languages'],
    find(code) {
      const tag = read(code)
      return tag === undefined ? undefined : { code, ...texts(registry, tag), property: propertiesOf(tag) }
    },
    whyNot(code) {
      const tag = readTag(registry, code)
      return typeof tag === 'string' ? `Not a language tag: ${tag}` : undefined
    },
    filter(property, op, value) {
      const partOf = PROPERTIES.get(property)
      const accepts = partOf === undefined ? undefined : partTest(op, value)
      if (partOf === undefined || accepts === undefined) return undefined
      return (code) => {
        const tag = read(code)
        return tag !== undefined && accepts(partOf(tag).filter((part) => part !== undefined))
      }
    },
  }
}

function registryOf(bytes: Uint8Array): SubtagRegistry {
  const table: unknown = JSON.parse(new TextDecoder().decode(bytes))
  const [language, extlang, script] = [subtagsOf(table, 'language'), subtagsOf(table, 'extlang'), subtagsOf(table, 'script')]
  const [region, variant, grandfathered] = [subtagsOf(table, 'region'), subtagsOf(table, 'variant'), subtagsOf(table, 'grandfathered')]
  return { language, extlang, script, region, variant, grandfathered }
}

/** Tags registered before there were rules have their own capitalization. */
function isWellWritten(tag: LanguageTag, code: string): boolean {
  return tag.grandfathered !== undefined || writeTag(tag) === code
}

function texts(registry: SubtagRegistry, tag: LanguageTag): { display: string; designation?: readonly object[] } {
  const { language, parts } = describeTag(registry, tag)
  if (parts.length === 0) return { display: language }
  const list = (shown: (part: readonly [string, string]) => string): string => `${language} (${parts.map(shown).join(', ')})`
  return {
    display: list(([what, text]) => `${what}=${text}`),
    designation: [{ language: 'en', value: list(([, text]) => text) }],
  }
}

function propertiesOf(tag: LanguageTag): readonly object[] {
  return Array.from(PROPERTIES).flatMap(([code, partOf]) =>
    partOf(tag).flatMap((part) => (part === undefined ? [] : [{ code, valueCode: part }])),
  )
}

function partTest(op: string, value: string): ((parts: readonly string[]) => boolean) | undefined {
  if (op === '=') return (parts) => parts.some((part) => part.toLowerCase() === value.toLowerCase())
  if (op === 'exists' && (value === 'true' || value === 'false')) return (parts) => parts.length > 0 === (value === 'true')
  return undefined
}
