import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { stringAt } from 'fhir-ops/internal/json'
import { didYouMean, nearest } from 'fhir-ops/internal/text'
import { allMatches } from 'fhir-ops/storage'

/** Maximum number of stored resources of a type to read. */
const MOST = 100

/** Types that commands name by id, not by canonical. */
const BY_ID: ReadonlySet<string> = new Set(['Measure', 'Library', 'Bot'])

/** Returns the names of a type that a command accepts, sorted: canonicals of definitions and stored resources, or ids for types that are named by id. */
export async function knownNames({ storage, definitions = [], concepts }: OperationContext, type: string): Promise<readonly string[]> {
  const found = new Set<string>()
  for await (const { id, resource } of allMatches(storage, { type, where: { kind: 'and', conditions: [] }, limit: MOST })) {
    const url = BY_ID.has(type) ? id : stringAt(resource, 'url')
    if (url !== undefined) found.add(url)
  }
  for (const layer of definitions) for (const { url } of (await layer.all?.(type)) ?? []) found.add(url)
  if (type === 'CodeSystem') for (const { url } of (await concepts?.systems()) ?? []) found.add(url)
  return [...found].toSorted()
}

const CANONICAL_TYPES = ['ValueSet', 'CodeSystem', 'ConceptMap', 'StructureDefinition']

/**
 * Returns a hint after something was not found: similar names, or the type that does have the name.
 *
 * @returns `undefined` for another error, and if nothing is similar.
 */
export async function hintAbout(error: unknown, ctx: OperationContext): Promise<string | undefined> {
  if (!(error instanceof OperationError) || error.detail.missing === undefined) return undefined
  const { kind, name } = error.detail.missing
  if (kind === 'code') return didYouMean(nearCodes(error))
  if (BY_ID.has(kind)) return didYouMean(nearest(name.replace(`${kind}/`, ''), await knownNames(ctx, kind)))
  return hintAboutCanonical(kind, name, ctx)
}

/** Returns the similar codes in the explanation about a code that does not exist. */
function nearCodes({ detail }: OperationError): readonly string[] {
  return detail.explanation?.nearest.map(({ coding }) => coding.code).slice(0, MOST_CODES) ?? []
}

const MOST_CODES = 3

async function hintAboutCanonical(type: string, name: string, ctx: OperationContext): Promise<string | undefined> {
  const [url = '', version] = name.split('|')
  const published = PUBLISHED.find((system) => system.url === url || system.short === url.toLowerCase())
  if (published !== undefined) return notImported(published, url)
  if (!url.includes(':')) return `Definitions are named by their canonical, such as '${EXAMPLES.get(type) ?? VALUE_SET}'.`
  const names = await Promise.all(CANONICAL_TYPES.map(async (one) => ({ type: one, urls: await knownNames(ctx, one) })))
  const owner = names.find(({ urls }) => urls.includes(url))
  if (owner !== undefined)
    return owner.type === type && version !== undefined
      ? `'${url}' is known in another version.`
      : `'${url}' is the canonical of a ${owner.type}.`
  return didYouMean(names.flatMap(({ urls }) => nearestCanonicals(url, urls)).slice(0, 1))
}

/** Code systems that are imported from their publishers' files, with a common short name. */
const PUBLISHED = [
  { url: 'http://snomed.info/sct', short: 'snomed', name: 'SNOMED CT', call: 'import snomed RELEASE.zip' },
  { url: 'http://loinc.org', short: 'loinc', name: 'LOINC', call: 'import loinc LOINC.zip --release VERSION' },
  {
    url: 'http://www.nlm.nih.gov/research/umls/rxnorm',
    short: 'rxnorm',
    name: 'RxNorm',
    call: 'import rxnorm RXNORM.zip --release VERSION',
  },
] as const

function notImported({ url, name, call }: (typeof PUBLISHED)[number], given: string): string {
  const canonical = given === url ? '' : `The canonical of ${name} is '${url}'. `
  return `${canonical}${name} comes from its publisher, and is imported by \`fhir-ops ${call} --storage sqlite:FILE\`.`
}

const VALUE_SET = 'http://hl7.org/fhir/ValueSet/administrative-gender'

/** An example canonical for each type whose canonicals have a different form. */
const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ['CodeSystem', 'http://hl7.org/fhir/administrative-gender'],
  ['ConceptMap', 'http://example.org/fhir/ConceptMap/my-map'],
  ['StructureDefinition', 'http://hl7.org/fhir/StructureDefinition/Patient'],
])

/** Returns canonicals whose last part is similar: canonicals are long and mostly differ at their end. */
function nearestCanonicals(url: string, canonicals: readonly string[]): readonly string[] {
  const [base, name] = splitAtName(url)
  const siblings = canonicals.map(splitAtName).filter(([other]) => other === base)
  return nearest(
    name,
    siblings.map(([, sibling]) => sibling),
  ).map((near) => base + near)
}

function splitAtName(url: string): readonly [base: string, name: string] {
  const end = Math.max(url.lastIndexOf('/'), url.lastIndexOf(':')) + 1
  return [url.slice(0, end), url.slice(end)]
}

/** Adds a hint to the message of an error; returns the error unchanged without a hint. */
export function withHint(error: unknown, hint: string | undefined): unknown {
  if (hint === undefined || !(error instanceof OperationError)) return error
  return new OperationError(error.code, `${error.message.replace(/\.$/, '')}. ${hint}`, { ...error.detail, cause: error })
}
