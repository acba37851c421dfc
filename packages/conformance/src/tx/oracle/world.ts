import type { Random } from '../../fuzz/random.js'

/** A resource as JSON. */
export interface Definition {
  readonly resourceType: 'CodeSystem' | 'ValueSet' | 'ConceptMap'
  readonly url: string
  readonly version?: string
  readonly [member: string]: unknown
}

/** Definitions that refer to each other, and codes of some of them. */
export interface World {
  readonly systems: readonly Definition[]
  readonly valueSets: readonly Definition[]
  readonly maps: readonly Definition[]
  /** By URL of the code system. */
  readonly codes: ReadonlyMap<string, readonly string[]>
}

/** A code system that no world has. */
export const UNKNOWN_SYSTEM = 'http://x/cs/unknown'

/** Languages of texts and of requests. */
export const LANGUAGES: readonly string[] = ['en', 'de', 'de-CH', 'fr', 'es']

const CODES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '1.0', 'x y', 'ü', 'M-1', '#', 'Ab']
const USES = [
  { system: 'http://terminology.hl7.org/CodeSystem/designation-usage', code: 'display' },
  { system: 'http://terminology.hl7.org/CodeSystem/hl7TermMaintInfra', code: 'preferredForLanguage' },
  { system: 'http://x/use', code: 'other' },
]
const STANDARD = 'http://hl7.org/fhir/concept-properties#'

interface Concept {
  readonly code: string
  readonly display?: string
  readonly definition?: string
  readonly designation?: readonly object[]
  readonly property?: readonly object[]
  readonly concept?: readonly Concept[]
}

/** Creates a random world. */
export function worldOf(random: Random): World {
  const systems: Definition[] = []
  const codes = new Map<string, readonly string[]>()
  const add = (url: string, version: string | undefined): void => {
    const known = random.some(9, () => random.one(CODES))
    const own = [...new Set(['a', 'b', ...known])]
    systems.push(systemOf(random, url, version, own))
    codes.set(url, [...new Set([...(codes.get(url) ?? []), ...own])])
  }
  add('http://x/cs/a', random.seldom(4) ? undefined : '1.0.0')
  if (random.seldom(2)) add('http://x/cs/a', '2.0.0')
  add('http://x/cs/b', random.seldom(3) ? undefined : random.one(['1', '2020']))
  if (random.seldom(4)) systems.push(supplementOf(random))
  const valueSets = valueSetsOf(random, codes)
  return { systems, valueSets, maps: [mapOf(random, codes)], codes }
}

function systemOf(random: Random, url: string, version: string | undefined, codes: readonly string[]): Definition {
  return {
    resourceType: 'CodeSystem',
    url,
    ...(version !== undefined && { version }),
    name: 'System',
    // If one of several versions is retired, this library chooses the newest in another way.
    status: version === undefined || url.endsWith('b') ? random.one(['active', 'active', 'draft', 'retired']) : 'active',
    ...(random.seldom(8) && { experimental: true }),
    ...(random.seldom(3) && { language: random.one(LANGUAGES) }),
    ...(!random.seldom(4) && { caseSensitive: !random.seldom(3) }),
    ...(random.seldom(4) && { hierarchyMeaning: random.one(['is-a', 'grouped-by', 'part-of', 'classified-with']) }),
    content: random.seldom(10) ? random.one(['fragment', 'fragment', 'example', 'not-present']) : 'complete',
    property: [
      { code: 'status', uri: `${STANDARD}status`, type: 'code' },
      { code: 'inactive', uri: `${STANDARD}inactive`, type: 'boolean' },
      { code: random.seldom(4) ? 'group' : 'notSelectable', uri: `${STANDARD}notSelectable`, type: 'boolean' },
      { code: 'deprecated', uri: `${STANDARD}deprecationDate`, type: 'dateTime' },
      { code: 'parent', uri: `${STANDARD}parent`, type: 'code' },
      { code: 'text', type: 'string' },
      { code: 'number', type: 'integer' },
      { code: 'size', type: 'decimal' },
      { code: 'flag', type: 'boolean' },
      { code: 'when', type: 'dateTime' },
      { code: 'kind', type: 'code' },
      { code: 'see', type: 'Coding' },
    ],
    concept: conceptsOf(random, codes),
  }
}

/** A tree in which each concept after the first may be below one before it. */
function conceptsOf(random: Random, codes: readonly string[]): readonly Concept[] {
  const children = new Map<string, string[]>([['', []]])
  const all: string[] = []
  for (const code of codes) {
    const above = all.length === 0 || random.seldom(3) ? '' : random.one(all)
    children.set(above, [...(children.get(above) ?? []), code])
    all.push(code)
  }
  const made = (code: string): Concept => {
    const below = children.get(code)
    const before = all.slice(0, all.indexOf(code))
    return { ...conceptOf(random, code, before), ...(below !== undefined && { concept: below.map(made) }) }
  }
  return (children.get('') ?? []).map(made)
}

function conceptOf(random: Random, code: string, before: readonly string[]): Concept {
  const designation = random.seldom(2) ? random.some(3, () => designationOf(random, code)) : []
  const property = propertiesOf(random, before)
  return {
    code,
    ...(!random.seldom(10) && { display: `Display ${code}` }),
    ...(random.seldom(5) && { definition: `Means ${code}` }),
    ...(designation.length > 0 && { designation }),
    ...(property.length > 0 && { property }),
  }
}

function designationOf(random: Random, code: string): object {
  return {
    ...(!random.seldom(6) && { language: random.one(LANGUAGES) }),
    ...(random.seldom(2) && { use: random.one(USES) }),
    value: `${random.one(['Anzeige', 'Affichage', 'Display', 'Text'])} ${code}`,
  }
}

function propertiesOf(random: Random, before: readonly string[]): readonly object[] {
  const drawn: object[] = []
  if (random.seldom(6))
    drawn.push({ code: 'status', valueCode: random.one(['active', 'deprecated', 'retired', 'withdrawn', 'experimental', 'draft']) })
  if (random.seldom(6)) drawn.push({ code: 'inactive', valueBoolean: !random.seldom(4) })
  if (random.seldom(6)) drawn.push({ code: random.one(['notSelectable', 'notSelectable', 'group']), valueBoolean: !random.seldom(4) })
  if (random.seldom(12)) drawn.push({ code: 'deprecated', valueDateTime: random.one(['2001', '2019-02-03', '2099-01-01']) })
  if (random.seldom(5) && before.length > 0) drawn.push({ code: 'parent', valueCode: random.one(before) })
  if (random.seldom(3)) drawn.push({ code: 'text', valueString: random.one(['one', 'two', 'two words']) })
  if (random.seldom(4)) drawn.push({ code: 'number', valueInteger: random.whole(3) })
  if (random.seldom(6)) drawn.push({ code: 'size', valueDecimal: random.one([0.5, 1, 2.25]) })
  if (random.seldom(4)) drawn.push({ code: 'flag', valueBoolean: random.seldom(2) })
  if (random.seldom(8)) drawn.push({ code: 'when', valueDateTime: random.one(['2020-01-01', '2021']) })
  if (random.seldom(3)) drawn.push({ code: 'kind', valueCode: random.one(['k1', 'k2']) })
  if (random.seldom(10)) drawn.push({ code: 'see', valueCoding: { system: 'http://x/cs/b', code: 'a' } })
  return drawn
}

function supplementOf(random: Random): Definition {
  return {
    resourceType: 'CodeSystem',
    url: 'http://x/cs/a-more',
    version: '1',
    name: 'More',
    status: 'active',
    content: 'supplement',
    supplements: random.one(['http://x/cs/a', 'http://x/cs/a|1.0.0']),
    property: [{ code: 'extra', type: 'string' }],
    concept: [
      { code: 'a', designation: [{ language: 'de', value: 'Zusatz a' }], property: [{ code: 'extra', valueString: 'more' }] },
      { code: 'b', designation: [{ language: 'fr', value: 'Ajout b' }] },
    ],
  }
}

function valueSetsOf(random: Random, codes: World['codes']): readonly Definition[] {
  const made: Definition[] = []
  for (let number = 1; number <= 4; number++) {
    const url = `http://x/vs/${number}`
    const imports = made.map(({ url: known, version }) => (version !== undefined && random.seldom(3) ? `${known}|${version}` : known))
    // Sometimes a value set imports itself, or one that does not exist.
    if (random.seldom(25)) imports.push(url)
    if (random.seldom(20)) imports.push('http://x/vs/unknown')
    const exclude = random.seldom(2) ? random.some(2, () => includeOf(random, codes, imports)) : []
    made.push({
      resourceType: 'ValueSet',
      url,
      ...(!random.seldom(3) && { version: random.one(['1.0.0', '5']) }),
      name: 'Set',
      status: random.one(['active', 'active', 'active', 'draft', 'retired']),
      ...(random.seldom(10) && { experimental: true }),
      ...(random.seldom(8) && { language: random.one(LANGUAGES) }),
      compose: {
        ...(random.seldom(5) && { inactive: random.seldom(2) }),
        ...(random.seldom(15) && { lockedDate: '2020-01-01' }),
        include: [includeOf(random, codes, imports), ...random.some(1, () => includeOf(random, codes, imports))],
        ...(exclude.length > 0 && { exclude }),
      },
    })
  }
  return made
}

function includeOf(random: Random, codes: World['codes'], imports: readonly string[]): object {
  const valueSet =
    imports.length > 0 && random.seldom(4) ? [...new Set([random.one(imports), ...random.some(1, () => random.one(imports))])] : []
  if (valueSet.length > 0 && random.seldom(2)) return { valueSet }
  const system = random.seldom(25) ? UNKNOWN_SYSTEM : random.one(['http://x/cs/a', 'http://x/cs/a', 'http://x/cs/b'])
  const known = codes.get(system) ?? ['a', 'b']
  const kind = random.whole(5)
  return {
    system,
    ...(random.seldom(6) && { version: random.seldom(6) ? '9' : system.endsWith('a') ? random.one(['1.0.0', '2.0.0']) : '1' }),
    ...(kind < 2 && {
      concept: [...new Set([random.one(known), ...random.some(4, () => codeOf(random, known))])].map((code) => listed(random, code)),
    }),
    ...((kind === 2 || kind === 3) && { filter: [filterOf(random, known), ...(random.seldom(4) ? [filterOf(random, known)] : [])] }),
    ...(valueSet.length > 0 && { valueSet }),
  }
}

function codeOf(random: Random, known: readonly string[]): string {
  return random.seldom(20) ? 'nothing' : random.one(known)
}

function listed(random: Random, code: string): object {
  const designation = random.seldom(8) ? [designationOf(random, code)] : []
  return { code, ...(random.seldom(5) && { display: `Own ${code}` }), ...(designation.length > 0 && { designation }) }
}

function filterOf(random: Random, known: readonly string[]): object {
  const [property, op, value] = random.one<() => readonly [string, string, string]>([
    () => ['concept', random.one(['is-a', 'descendent-of', 'is-not-a', 'generalizes', '=', 'in', 'not-in']), codeOf(random, known)],
    () => ['concept', random.one(['is-a', 'is-a', 'descendent-of', 'is-not-a']), codeOf(random, known)],
    () => ['code', 'regex', random.one(['[a-c]', 'a|b', '.*', 'x.*', '\\d\\.\\d'])],
    () => ['parent', '=', random.one(known)],
    () => ['text', random.one(['=', 'in', 'not-in', 'regex']), random.one(['one', 'two', 'one,two', 't.*'])],
    () => ['number', random.one(['=', 'in']), random.one(['1', '2', '0,1'])],
    () => ['flag', random.one(['=', 'exists']), random.one(['true', 'false'])],
    () => ['kind', random.one(['=', 'in', 'not-in', 'regex']), random.one(['k1', 'k1,k2'])],
    () => ['status', random.one(['=', 'not-in']), random.one(['active', 'deprecated', 'retired'])],
    () => ['inactive', '=', random.one(['true', 'false'])],
    () => ['notSelectable', random.one(['=', 'in']), random.one(['true', 'false'])],
    () => (random.seldom(4) ? ['nowhere', '=', 'x'] : ['kind', '=', 'k1']),
  ])()
  return { property, op, value }
}

function mapOf(random: Random, codes: World['codes']): Definition {
  const from = codes.get('http://x/cs/a') ?? []
  const to = codes.get('http://x/cs/b') ?? []
  const target = (): object => ({
    code: random.one(to),
    equivalence: random.one(['relatedto', 'equivalent', 'equal', 'wider', 'subsumes', 'narrower', 'specializes', 'inexact', 'disjoint']),
  })
  return {
    resourceType: 'ConceptMap',
    url: 'http://x/map',
    name: 'Map',
    status: 'active',
    group: Array.from({ length: 1 + random.whole(2) }, () => ({
      source: 'http://x/cs/a',
      ...(random.seldom(4) && { sourceVersion: random.one(['1.0.0', '2.0.0']) }),
      target: 'http://x/cs/b',
      element: from.slice(0, 4).map((code) => ({ code, target: [target(), ...random.some(1, target)] })),
    })),
  }
}
