import { stringAt, type JsonObject } from '../json/index.js'
import type { OperationRequest } from '../operation/index.js'
import type { ParameterReader } from '../parameters/index.js'
import { refusal } from './messages.js'
import { expansionParameterText } from './value-set/value-set.js'

/** The requested languages, best first. */
export interface LanguageList {
  /** The list as given, to repeat it in answers. */
  readonly text: string
  /** Language tags in lower case, without wildcards and without those of `less`. */
  readonly tags: readonly string[]
  /** Languages with less weight than `*`, so that any other language is preferred to them, best first; empty if the list has no `*`. */
  readonly less: readonly string[]
  /** True if the list contains `*;q=0`: no text is better than a text in another language. */
  readonly only: boolean
  /** Languages that are not accepted where the list has `*` with a weight, and so accepts all others; absent where it does not. */
  readonly allBut?: readonly string[]
  /** True for the language of the value set, where the request asks for none. */
  readonly isOfValueSet?: true
}

const RANGE = /^(\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:\s*;\s*q\s*=\s*([01](?:\.\d{0,3})?))?$/i

/**
 * Parses a list in the form of the `Accept-Language` header.
 *
 * @returns `undefined` when it does not have that form.
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-accept-language
 */
export function languageList(text: string): LanguageList | undefined {
  const items = text.split(',').map((item) => item.trim())
  // A recipient must ignore empty elements (RFC 9110, section 5.6.1.2).
  const ranges = items.filter((item) => item !== '').map((item) => RANGE.exec(item))
  const read = ranges.flatMap((match) => (match === null ? [] : [{ tag: match[1] ?? '', weight: Number(match[2] ?? 1) }]))
  if (read.length < ranges.length || read.length === 0) return undefined
  const others = read.find(({ tag }) => tag === '*')?.weight
  const named = read.filter(({ tag }) => tag !== '*').sort((a, b) => b.weight - a.weight)
  const isLess = ({ weight }: { readonly weight: number }): boolean => others !== undefined && weight < others
  const tagsOf = (ranges: typeof named): readonly string[] => ranges.map(({ tag }) => tag.toLowerCase())
  return {
    text,
    tags: tagsOf(named.filter((range) => range.weight > 0 && !isLess(range))),
    less: tagsOf(named.filter(isLess)),
    only: others === 0,
    ...(others !== undefined && others > 0 && { allBut: tagsOf(named.filter(({ weight }) => weight === 0)) }),
  }
}

/**
 * Returns how well a language matches the requested one: 0 for the same, 1 for a region of it (`de` and `de-CH`), 2 for a wider one (`en-AU` and `en`),
 * `undefined` for no match.
 */
export function languageFit(asked: string, language: string): number | undefined {
  const found = language.toLowerCase()
  if (found === asked) return 0
  if (found.startsWith(`${asked}-`)) return 1
  return asked.startsWith(`${found}-`) ? 2 : undefined
}

/** True if the language matches any of the requested ones, or the list accepts others too. */
export function isWanted({ tags, allBut }: LanguageList, language: string): boolean {
  return fitsAny(tags, language) || (allBut !== undefined && !fitsAny(allBut, language))
}

/** True if any other language is preferred to this one. */
export function isLessWanted(languages: LanguageList, language: string): boolean {
  return fitsAny(languages.less, language)
}

function fitsAny(tags: readonly string[], language: string): boolean {
  return tags.some((tag) => languageFit(tag, language) !== undefined)
}

/** The languages that the caller requests, each in the form of the `Accept-Language` header. */
export interface AskedLanguages {
  readonly displayLanguage?: string | undefined
  /** The header itself; `displayLanguage` takes precedence. */
  readonly acceptLanguage?: string | undefined
}

/** Reads the requested languages among the inputs. */
export function readLanguages(reader: ParameterReader, request: Pick<OperationRequest, 'acceptLanguage'>): AskedLanguages {
  return { displayLanguage: reader.text('displayLanguage'), acceptLanguage: request.acceptLanguage }
}

/**
 * Returns the languages for a value set, from the first of: displayLanguage, expansion parameter of the value set, header, language of the value set.
 * An invalid list of languages is ignored, except in `displayLanguage`.
 *
 * @throws {OperationError} `parameter-value` when `displayLanguage` is not a list of languages.
 */
export function languagesFor({ displayLanguage, acceptLanguage }: AskedLanguages, valueSet?: JsonObject): LanguageList | undefined {
  if (displayLanguage !== undefined) return languagesOf(displayLanguage)
  const stated = valueSet === undefined ? undefined : expansionParameterText(valueSet, 'displayLanguage')
  const own = optionalList(stringAt(valueSet, 'language'))
  return optionalList(stated) ?? optionalList(acceptLanguage) ?? (own && { ...own, isOfValueSet: true })
}

function languagesOf(text: string): LanguageList {
  const list = languageList(text)
  if (list === undefined)
    throw refusal('INVALID_DISPLAY_NAME', { value: text }, { code: 'parameter-value', expression: ['displayLanguage'], omitsPlace: true })
  return list
}

/** Parses an optional list. A list of only `*`, which some clients send by default, states no language. */
function optionalList(text: string | undefined): LanguageList | undefined {
  const list = text === undefined ? undefined : languageList(text)
  return list === undefined || (list.tags.length + list.less.length === 0 && !list.only) ? undefined : list
}
