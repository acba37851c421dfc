import type { ComputedSystem } from 'fhir-ops/terminology'
import { isObject } from 'fhir-ops/internal/json'
import { builtFile, givenBytes, type RegistryFile } from '../registry-definitions.js'

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

/** The kinds of registered subtags. */
type SubtagKind = 'language' | 'extlang' | 'script' | 'region' | 'variant' | 'grandfathered'

/** The registered subtags of one kind; case is ignored. */
interface Subtags {
  /** Returns the description of a subtag; `undefined` if it is not registered. */
  describe(subtag: string): string | undefined
  /** Returns the language to which an extended language belongs. */
  prefix(subtag: string): string | undefined
}

/** Reads the subtags of one kind from the table that the build makes. @throws {TypeError} if it is not such a table. */
function subtagsOf(table: unknown, kind: SubtagKind): Subtags {
  const rows = isObject(table) ? table[kind] : undefined
  if (!Array.isArray(rows)) throw new TypeError(`The table of subtags has no ${kind}.`)
  const entries = rows.map(readRow)
  const known = new Map(entries.map((entry) => [entry.subtag.toLowerCase(), entry]))
  const ranges = entries.filter(({ subtag }) => subtag.includes('..')).map(readRange)
  const rangeOf = (subtag: string): Range | undefined => ranges.find((range) => isWithin(subtag, range))
  return {
    describe: (subtag) => known.get(subtag.toLowerCase())?.description ?? rangeOf(subtag.toLowerCase())?.description,
    prefix: (subtag) => known.get(subtag.toLowerCase())?.prefix,
  }
}

interface Row {
  readonly subtag: string
  readonly description: string
  readonly prefix: string | undefined
}

interface Range {
  readonly first: string
  readonly last: string
  readonly description: string
}

function readRow(row: unknown): Row {
  const [subtag, description, prefix]: readonly unknown[] = Array.isArray(row) ? row : []
  if (typeof subtag !== 'string' || typeof description !== 'string') throw new TypeError('A row of the table of subtags is damaged.')
  return { subtag, description, prefix: typeof prefix === 'string' ? prefix : undefined }
}

function readRange({ subtag, description }: Row): Range {
  const [first = '', last = ''] = subtag.toLowerCase().split('..')
  return { first, last, description }
}

function isWithin(subtag: string, { first, last }: Range): boolean {
  return subtag.length === first.length && first <= subtag && subtag <= last
}

/** The subtags of a language tag, as written. */
interface LanguageTag {
  /** Absent in a tag that is entirely for private use. */
  readonly language?: string
  readonly extlang?: string
  readonly script?: string
  readonly region?: string
  readonly variants: readonly string[]
  /** Extensions with their singletons: `u-co-phonebk`. */
  readonly extensions: readonly string[]
  /** The private-use part, including `x`. */
  readonly privateUse?: string
  /** The whole tag, if it was registered before there were rules. */
  readonly grandfathered?: string
}

/** The registered subtags of every kind. */
type SubtagRegistry = Readonly<Record<SubtagKind, Subtags>>

const MAX_LENGTH = 100

/**
 * Parses a language tag, ignoring case.
 *
 * @returns The reason as a text if the tag is not valid.
 * @see https://www.rfc-editor.org/rfc/rfc5646 sections 2.1 and 2.2.9
 */
function readTag(registry: SubtagRegistry, code: string): LanguageTag | string {
  if (code.length > MAX_LENGTH) return `a language tag must have at most ${MAX_LENGTH} characters`
  if (!/^[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{1,8})*$/.test(code)) return 'subtags are 1 to 8 letters and digits, joined by hyphens'
  if (registry.grandfathered.describe(code) !== undefined) return { grandfathered: code, variants: [], extensions: [] }
  const [main, tail] = splitTail(code.split('-'))
  const rest = readTail(tail)
  if (typeof rest === 'string') return rest
  if (main.length === 0)
    return rest.privateUse === undefined || rest.extensions.length > 0 ? 'it has no language' : { ...rest, variants: [] }
  const subtags = readMain(registry, main)
  return typeof subtags === 'string' ? subtags : { ...subtags, ...rest }
}

/** Splits the subtags before the first single letter from the rest. */
function splitTail(subtags: readonly string[]): readonly [readonly string[], readonly string[]] {
  const start = subtags.findIndex((subtag) => subtag.length === 1)
  return start < 0 ? [subtags, []] : [subtags.slice(0, start), subtags.slice(start)]
}

type Tail = Pick<LanguageTag, 'extensions' | 'privateUse'>

function readTail(subtags: readonly string[]): Tail | string {
  const privateStart = subtags.findIndex((subtag) => subtag.toLowerCase() === 'x')
  const privateUse = privateStart < 0 ? [] : subtags.slice(privateStart)
  const extensions = groups(privateStart < 0 ? subtags : subtags.slice(0, privateStart))
  const singletons = extensions.map(([singleton = '']) => singleton.toLowerCase())
  if (privateUse.length === 1 || extensions.some((group) => group.length === 1)) return 'a single letter must be followed by a subtag'
  if (new Set(singletons).size < singletons.length) return 'an extension occurs twice'
  return {
    extensions: extensions.map((group) => group.join('-')),
    ...(privateUse.length > 0 && { privateUse: privateUse.join('-') }),
  }
}

function groups(subtags: readonly string[]): readonly string[][] {
  const found: string[][] = []
  for (const subtag of subtags) {
    if (subtag.length === 1) found.push([subtag])
    else found.at(-1)?.push(subtag)
  }
  return found
}

/** The kinds after the language, in their required order, with their syntax. */
const SHAPES = [
  ['extlang', /^[A-Za-z]{3}$/],
  ['script', /^[A-Za-z]{4}$/],
  ['region', /^(?:[A-Za-z]{2}|[0-9]{3})$/],
] as const

function readMain(registry: SubtagRegistry, [language = '', ...others]: readonly string[]): Omit<LanguageTag, keyof Tail> | string {
  if (registry.language.describe(language) === undefined) return `the language ${language} is not registered`
  const found: { extlang?: string; script?: string; region?: string } = {}
  const left = [...others]
  for (const [kind, shape] of SHAPES) {
    const [subtag = ''] = left
    if (!shape.test(subtag)) continue
    if (registry[kind].describe(subtag) === undefined) return `the ${kind} ${subtag} is not registered`
    found[kind] = subtag
    left.shift()
  }
  return wrongPrefix(registry, language, found.extlang) ?? wrongVariants(registry, left) ?? { language, ...found, variants: left }
}

function wrongPrefix(registry: SubtagRegistry, language: string, extlang: string | undefined): string | undefined {
  const prefix = extlang === undefined ? undefined : registry.extlang.prefix(extlang)
  return prefix === undefined || prefix === language.toLowerCase() ? undefined : `${extlang} goes with ${prefix}, not with ${language}`
}

function wrongVariants(registry: SubtagRegistry, variants: readonly string[]): string | undefined {
  const wrong = variants.find((variant) => registry.variant.describe(variant) === undefined)
  if (wrong !== undefined) return `the variant ${wrong} is not registered`
  return new Set(variants.map((variant) => variant.toLowerCase())).size < variants.length ? 'a variant occurs twice' : undefined
}

/** Writes the tag with recommended capitalization: `zh-Hant-TW`. @see https://www.rfc-editor.org/rfc/rfc5646#section-2.1.1 */
function writeTag({ grandfathered, language, extlang, script, region, ...rest }: LanguageTag): string {
  if (grandfathered !== undefined) return grandfathered.toLowerCase()
  const named = [language?.toLowerCase(), extlang?.toLowerCase(), titled(script), region?.toUpperCase()]
  const others = [...rest.variants, ...rest.extensions, rest.privateUse].map((subtag) => subtag?.toLowerCase())
  return [...named, ...others].filter((subtag) => subtag !== undefined).join('-')
}

function titled(script: string | undefined): string | undefined {
  return script === undefined ? undefined : script.slice(0, 1).toUpperCase() + script.slice(1).toLowerCase()
}

/** The meaning of a tag, part by part; parts without a description are returned unchanged. */
interface TagDescription {
  readonly language: string
  /** Pairs of kind and text: `['Region', 'Switzerland']`. */
  readonly parts: readonly (readonly [string, string])[]
}

/** Describes a tag with the descriptions of the registry. */
function describeTag(registry: SubtagRegistry, tag: LanguageTag): TagDescription {
  const { grandfathered, language, extlang, script, region, variants, extensions, privateUse } = tag
  if (grandfathered !== undefined) return { language: registry.grandfathered.describe(grandfathered) ?? grandfathered, parts: [] }
  const part = (what: string, subtag: string | undefined, text?: string): readonly (readonly [string, string])[] =>
    subtag === undefined ? [] : [[what, text ?? subtag]]
  return {
    language: language === undefined ? 'Private use' : (registry.language.describe(language) ?? language),
    parts: [
      ...part('Extlang', extlang, registry.extlang.describe(extlang ?? '')),
      ...part('Script', script, registry.script.describe(script ?? '')),
      ...part('Region', region, registry.region.describe(region ?? '')),
      ...variants.flatMap((variant) => part('Variant', variant, registry.variant.describe(variant))),
      ...extensions.flatMap((extension) => part('Extension', extension)),
      ...part('Private-Use', privateUse),
    ],
  }
}
