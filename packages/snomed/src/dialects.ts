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
export function dialectTag(refsetId: string): string | undefined {
  return TAGS.get(refsetId)
}

function tagOf(alias: string): string {
  const [language = '', region] = alias.split('-')
  return region === undefined ? language : `${language}-${region.toUpperCase()}`
}
