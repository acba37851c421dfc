import { formatCanonical, canonicalOf } from '../../content/index.js'
import { quoted } from '../../errors/index.js'
import type { ExplanationReason, ExplanationStep } from '../../explain/index.js'
import type { SystemChoice } from '../code-system/system-family.js'
import { NO_VERSION, type VersionOrigin } from '../versions.js'
import { nameOf, type ValueSetDefinition } from '../value-set/value-set.js'
import type { CodeSystemProvider, ConceptText, Filter } from '../../code-system/index.js'
import { stringAt } from '../../json/index.js'
import type { AskedLanguages, LanguageList } from '../languages.js'
import type { PartPlan } from '../value-set/plan.js'

const REASONS: Readonly<Record<VersionOrigin, ExplanationReason>> = {
  force: 'force-system-version',
  include: 'include',
  fallback: 'system-version',
  check: 'check-system-version',
  value: 'coding',
  newest: 'newest',
}

const BECAUSE: ReadonlyMap<ExplanationReason, string> = new Map<ExplanationReason, string>([
  ['coding', 'the coding states it'],
  ['include', 'the include states it'],
  ['newest', 'it is the newest that is not retired'],
  ['request', 'the request states it'],
])

const MOST_VERSIONS = 10

/**
 * Explains which version of a code system was used, and why.
 *
 * @param stated Where a version is stated besides the request's rules.
 * @param value Version of the validated coding.
 */
export function versionStep(choice: SystemChoice, stated: 'include' | 'request' | 'coding', value?: string): ExplanationStep {
  const { family, provider, wished, violates } = choice
  const known = family.versions.length === 0 ? '' : ` Known versions: ${versionsText(family.versions)}.`
  if (provider === undefined) {
    const definition = formatCanonical(family.url, wished)
    const text = `The code system ${quoted(definition)} is not known.${known}`
    return { kind: 'code-system', outcome: 'unknown', reason: 'unknown-system', definition, text }
  }
  const { version } = provider.header
  const reason = reasonOf(choice, stated, value !== undefined && version === value && wished !== value)
  const definition = formatCanonical(family.url, version)
  const because = version === undefined ? 'it has no version' : becauseOf(reason, wished, version)
  const outcome = violates === undefined ? 'chosen' : 'fails'
  return { kind: 'code-system', outcome, reason, definition, text: `${quoted(definition)} was used: ${because}.${known}` }
}

function reasonOf({ origin }: SystemChoice, stated: ExplanationReason, isOfValue: boolean): ExplanationReason {
  if (isOfValue) return 'coding'
  return origin === 'include' ? stated : REASONS[origin]
}

function becauseOf(reason: ExplanationReason, wished: string | undefined, version: string): string {
  const because = BECAUSE.get(reason) ?? `the parameter ${reason} asks for it`
  return wished === undefined || wished === version ? because : `${because} as ${quoted(wished)}`
}

function versionsText(versions: readonly string[]): string {
  const more = versions.length - MOST_VERSIONS
  const last = versions.slice(-MOST_VERSIONS).map(quoted).join(', ')
  return more > 0 ? `${last} and ${more} older` : last
}

/** How a request names its value set. */
interface NamedAs {
  readonly valueSet?: object | undefined
  readonly url?: string | undefined
  readonly valueSetVersion?: string | undefined
}

/** Explains which value set was used, and why. */
export function valueSetStep(found: ValueSetDefinition, { valueSet, url = '', valueSetVersion }: NamedAs): ExplanationStep {
  const named = valueSet !== undefined || (canonicalOf(url).version ?? valueSetVersion) !== undefined
  const reason: ExplanationReason = named ? 'request' : 'newest'
  const because = named ? 'the request names it' : 'it is the newest of its url that is not retired'
  return {
    kind: 'value-set',
    outcome: 'chosen',
    reason,
    ...(found.canonical !== undefined && { definition: found.canonical }),
    text: `The value set ${quoted(nameOf(found))} was used: ${because}.`,
  }
}

/** Two concepts of one code system. */
export interface Pair {
  readonly a: number
  readonly b: number
}

/** Explains whether one of two concepts is above the other, with the shortest path between them. */
export function hierarchyStep(provider: CodeSystemProvider, { a, b }: Pair): ExplanationStep {
  const { hierarchy, header } = provider
  const name = (concept: number): string => quoted(provider.code(concept))
  const base = { kind: 'hierarchy', definition: formatCanonical(header.url, header.version) } as const
  if (a === b) return { ...base, outcome: 'holds', text: `${name(a)} is the same concept.` }
  if (header.subsumes === false) {
    return { ...base, outcome: 'fails', text: `The hierarchy of ${quoted(header.url)} is one of parts or groups, not of kinds.` }
  }
  const pair = [
    { from: a, to: b },
    { from: b, to: a },
  ].find(({ from, to }) => hierarchy.isWithin(from, to))
  if (pair === undefined) return { ...base, outcome: 'fails', text: `Neither of ${name(a)} and ${name(b)} is above the other.` }
  const way = wayUp(provider, pair)
  const text =
    way === undefined ? `${name(pair.from)} is below ${name(pair.to)} by its definition.` : `${way.map(name).join(' is below ')}.`
  return { ...base, outcome: 'holds', text }
}

const MOST_SEEN = 10_000

/** Finds the shortest path from a concept up to another by stated parents; `undefined` when it is not found within limits. */
function wayUp(
  { hierarchy }: CodeSystemProvider,
  { from, to }: { readonly from: number; readonly to: number },
): readonly number[] | undefined {
  const below = new Map<number, number | undefined>([[from, undefined]])
  for (const [concept] of below) {
    if (concept === to) return traced(below, to)
    if (below.size > MOST_SEEN) return undefined
    for (const parent of hierarchy.parents(concept)) if (!below.has(parent)) below.set(parent, concept)
  }
  return undefined
}

function traced(below: ReadonlyMap<number, number | undefined>, top: number): readonly number[] {
  const way: number[] = []
  for (let at: number | undefined = top; at !== undefined; at = below.get(at)) way.unshift(at)
  return way
}

/** Explains which languages are requested, and where. */
export function languageStep(languages: LanguageList, { displayLanguage, acceptLanguage }: AskedLanguages): ExplanationStep {
  const ofHeader = acceptLanguage === languages.text ? 'accept-language' : 'value-set'
  const reason: ExplanationReason = displayLanguage === undefined ? ofHeader : 'displayLanguage'
  return { kind: 'language', outcome: 'chosen', reason, text: `Texts are requested in ${quoted(languages.text)}, by ${reason}.` }
}

/** Explains which text of a concept is shown. */
export function shownTextStep(shown: ConceptText, languages: LanguageList | undefined): ExplanationStep {
  const why = languages === undefined ? 'no language was asked for' : `${quoted(languages.text)} was asked for`
  return { kind: 'text', outcome: 'chosen', text: `${quoted(shown.value)} is shown, ${textOrigin(shown)}: ${why}.` }
}

/** Describes the origin of a text: `a designation in 'de' for the use 'synonym' of the supplement 'x'`. */
export function textOrigin({ main, language, use, supplement }: ConceptText): string {
  const code = stringAt(use, 'code')
  const parts = [
    main ? 'the display' : 'a designation',
    ...(language === undefined ? [] : [`in ${quoted(language)}`]),
    ...(code === undefined ? [] : [`for the use ${quoted(code)}`]),
    ...(supplement === undefined ? [] : [`of the supplement ${quoted(supplement)}`]),
  ]
  return parts.join(' ')
}

/** Returns the location of an include or exclude. */
export function locationOf({ valueSet, path }: PartPlan): { readonly definition?: string; readonly path: string } {
  return { ...(valueSet.canonical !== undefined && { definition: valueSet.canonical }), path }
}

/** Describes an include or exclude: `codes of 'S|1' with 'concept' is-a 'x'`. */
export function partText({ definition, filters, imports }: PartPlan): string {
  const { system, version, concepts } = definition
  const codes = concepts === undefined ? 'codes' : `the list of ${codesText(concepts.length)}`
  const parts = [
    ...(system === undefined ? [] : [`${codes} of ${quoted(formatCanonical(system, version === NO_VERSION ? undefined : version))}`]),
    ...(filters.length === 0 ? [] : [`with ${joinedText(filters, filterText)}`]),
    ...(imports.length === 0 ? [] : [`in ${joinedText(imports, ({ valueSet }) => quoted(nameOf(valueSet)))}`]),
  ]
  return parts.join(' ')
}

const MOST_NAMED = 5

function joinedText<T>(items: readonly T[], text: (item: T) => string): string {
  const more = items.length > MOST_NAMED ? [`${items.length - MOST_NAMED} more`] : []
  return [...items.slice(0, MOST_NAMED).map(text), ...more].join(' and ')
}

/** Formats a number of codes. */
export function codesText(count: number): string {
  return count === 1 ? '1 code' : `${count} codes`
}

/** Formats a filter. */
export function filterText({ property, op, value }: Filter): string {
  return `${quoted(property)} ${op} ${quoted(value)}`
}
