import type { JsonObject } from 'fhir-ops/internal/json'
import type { ConceptText } from 'fhir-ops/internal/terminology'
import { ACCEPTABILITY, KINDS, type DescriptionTable } from '../release/descriptions.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import type { SnomedHeader } from '../release/section-reader.js'
import { SCT, SNOMED } from '../sctid.js'

/** The dialect of displays. */
export interface DisplayDialect {
  /** Number of the language reference set in the header; -1 if the version has none. */
  readonly number: number
  /** Tag such as `en-US`; absent if the dialect has no name. */
  readonly tag?: string
}

/** Where displays are read from. */
interface DisplaySource {
  readonly descriptions: DescriptionTable
  readonly header: Pick<SnomedHeader, 'dialects'>
}

/** Returns American English if the version has it, else British English, else the first language reference set. */
export function displayDialect({ header }: Pick<DisplaySource, 'header'>): DisplayDialect {
  const tags = header.dialects.map(dialectTag)
  const best = ['en-US', 'en-GB'].map((tag) => tags.indexOf(tag)).find((number) => number >= 0)
  const number = best ?? (tags.length > 0 ? 0 : -1)
  const tag = tags[number]
  return { number, ...(tag !== undefined && { tag }) }
}

/** Returns the display: the synonym that the dialect prefers, else one that another dialect prefers, else any name in use, else any name. */
export function displayTerm(index: DisplaySource, concept: number, dialect: DisplayDialect): string {
  const { descriptions } = index
  const [from, to] = descriptions.rowsOf(concept)
  let [best, lowest] = [-1, Number.POSITIVE_INFINITY]
  for (let row = from; row < to && lowest > 0; row++) {
    const rank = rankOf(index, row, dialect)
    if (rank < lowest) [best, lowest] = [row, rank]
  }
  return best < 0 ? '' : descriptions.term(best)
}

function rankOf({ descriptions, header }: DisplaySource, row: number, dialect: DisplayDialect): number {
  const kind = descriptions.kind(row)
  if (kind === KINDS.definition) return Number.POSITIVE_INFINITY
  if (!descriptions.isActive(row)) return 4
  if (kind === KINDS.fsn) return 3
  const isPreferred = (number: number): boolean => descriptions.acceptability(row, number) === ACCEPTABILITY.preferred
  if (isPreferred(dialect.number)) return 0
  return header.dialects.some((_, number) => isPreferred(number)) ? 1 : 2
}

/** Returns all names of a concept; those that are acceptable but not preferred, and those no longer in use, are marked. */
export function designationsOf({ descriptions, header }: SnomedIndex, concept: number): readonly ConceptText[] {
  const [from, to] = descriptions.rowsOf(concept)
  const texts: ConceptText[] = []
  for (let row = from; row < to; row++) {
    const kind = descriptions.kind(row)
    if (kind === KINDS.definition) continue
    const preferring = header.dialects.filter((_, i) => descriptions.acceptability(row, i) === ACCEPTABILITY.preferred)
    const isActive = descriptions.isActive(row)
    texts.push({
      value: descriptions.term(row),
      language: descriptions.language(row),
      use: kind === KINDS.fsn ? FULLY_SPECIFIED_NAME : SYNONYM,
      ...(kind === KINDS.fsn && isActive && { unambiguous: true }),
      main: false,
      minor: !isActive || preferring.length === 0,
      extension: [],
      ...(!isActive && { outdated: 'inactive' }),
      ...(kind === KINDS.synonym && isActive && { dialects: preferring.flatMap((id) => dialectTag(id) ?? []) }),
    })
  }
  return texts
}

/** Returns the text definition of a concept. */
export function definitionOf({ descriptions }: SnomedIndex, concept: number): string | undefined {
  const [from, to] = descriptions.rowsOf(concept)
  for (let row = from; row < to; row++) {
    if (descriptions.kind(row) === KINDS.definition && descriptions.isActive(row)) return descriptions.term(row)
  }
  return undefined
}

const FULLY_SPECIFIED_NAME: JsonObject = { system: SNOMED, code: SCT.fullySpecifiedName, display: 'Fully specified name' }
const SYNONYM: JsonObject = { system: SNOMED, code: SCT.synonym, display: 'Synonym' }

/** Ids of language reference sets by dialect alias. @see https://confluence.ihtsdotools.org/display/DOCECL/Appendix+C+-+Dialect+Aliases */
export const DIALECTS: ReadonlyMap<string, string> = new Map([
  ['en-us', '900000000000509007'],
  ['en-gb', '900000000000508004'],
  ['da-dk', '554461000005103'],
  ['en-au', '32570271000036106'],
  ['en-ca', '19491000087109'],
  ['en-ie', '21000220103'],
  ['en-nz', '271000210107'],
  ['es', '448879004'],
  ['es-ar', '450828004'],
  ['es-uy', '5641000179103'],
  ['et-ee', '71000181105'],
  ['de', '722130004'],
  ['fr', '722131000'],
  ['fr-be', '21000172104'],
  ['fr-ca', '20581000087109'],
  ['ja', '722129009'],
  ['nb-no', '61000202103'],
  ['nn-no', '91000202106'],
  ['nl-be', '31000172101'],
  ['nl-nl', '31000146106'],
  ['sv-se', '46011000052107'],
  ['zh', '722128001'],
])

const TAGS: ReadonlyMap<string, string> = new Map(Array.from(DIALECTS, ([alias, id]) => [id, tagOf(alias)]))

/** Returns the dialect tag of a language reference set, such as `en-US`; `undefined` if it has no known alias. */
function dialectTag(refsetId: string): string | undefined {
  return TAGS.get(refsetId)
}

function tagOf(alias: string): string {
  const [language = '', region] = alias.split('-')
  return region === undefined ? language : `${language}-${region.toUpperCase()}`
}
