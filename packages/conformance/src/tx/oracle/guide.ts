import type { Random } from '../../fuzz/random.js'
import { subsumptionIn, type Parameter, type Question } from './questions.js'
import type { Definition, World } from './world.js'

/** Code systems of a guide, by their kind. */
const LOCAL = 'http://guide/cs/local'
const CLINICAL = 'http://guide/cs/clinical'
const TESTS = 'http://guide/cs/tests'
const STANDARD = 'http://hl7.org/fhir/concept-properties#'

interface Concept {
  readonly code: string
  readonly display: string
  readonly [member: string]: unknown
}

/** Creates definitions like those of an implementation guide: without contradictions, with few features in each. */
export function guideOf(random: Random): World {
  const local = localConcepts(random)
  const clinical = clinicalConcepts(random)
  const tests = testConcepts(random)
  const systems = [localSystem(local), clinicalSystem(clinical.tree), testSystem(tests), supplementOf(random, local)]
  const codes = new Map([
    [LOCAL, local.map(({ code }) => code)],
    [CLINICAL, clinical.codes],
    [TESTS, tests.map(({ code }) => code)],
  ])
  return { systems, valueSets: valueSetsOf(random, codes), maps: [mapOf(random, codes)], codes }
}

const active = { version: '1.2.0', status: 'active', content: 'complete', caseSensitive: true, language: 'en' } as const

function localSystem(concept: readonly Concept[]): Definition {
  return { resourceType: 'CodeSystem', url: LOCAL, name: 'Local', ...active, concept }
}

/** A flat list of a handful of codes with definitions and texts in other languages. */
function localConcepts(random: Random): readonly Concept[] {
  const names = ['planned', 'arrived', 'in-progress', 'finished', 'cancelled', 'on-hold', 'unknown']
  return names.slice(0, 3 + random.whole(5)).map((code) => ({
    code,
    display: titled(code),
    definition: `The visit is ${code}.`,
    ...(random.seldom(2) && {
      designation: [
        { language: 'de', value: `Besuch ${code}` },
        ...(random.seldom(2) ? [{ language: 'fr', value: `Visite ${code}` }] : []),
      ],
    }),
  }))
}

function titled(code: string): string {
  return code.slice(0, 1).toUpperCase() + code.slice(1).replaceAll('-', ' ')
}

function clinicalSystem(concept: readonly Concept[]): Definition {
  const property = [{ code: 'inactive', uri: `${STANDARD}inactive`, type: 'boolean' }]
  return { resourceType: 'CodeSystem', url: CLINICAL, name: 'Clinical', ...active, hierarchyMeaning: 'is-a', property, concept }
}

/** A hierarchy with numeric codes, like a clinical terminology: three levels, some concepts inactive. */
function clinicalConcepts(random: Random): { readonly tree: readonly Concept[]; readonly codes: readonly string[] } {
  const codes: string[] = []
  const made = (code: string, depth: number): Concept => {
    codes.push(code)
    const below = depth === 3 ? 0 : random.whole(4)
    const concept = Array.from({ length: below }, (_, i) => made(`${code}${i + 1}`, depth + 1))
    return {
      code,
      display: `Finding ${code}`,
      ...(concept.length === 0 && random.seldom(5) && { property: [{ code: 'inactive', valueBoolean: true }] }),
      ...(random.seldom(3) && { designation: [{ language: 'en', value: `Observation ${code}` }] }),
      ...(concept.length > 0 && { concept }),
    }
  }
  const tree = ['10', '20'].map((code) => made(code, 1))
  return { tree, codes }
}

function testSystem(concept: readonly Concept[]): Definition {
  const property = [
    { code: 'COMPONENT', type: 'string' },
    { code: 'SCALE_TYP', type: 'string' },
    { code: 'CLASS', type: 'string' },
    { code: 'STATUS', type: 'string' },
  ]
  return { resourceType: 'CodeSystem', url: TESTS, name: 'Tests', ...active, property, concept }
}

/** A flat list of laboratory tests with properties. */
function testConcepts(random: Random): readonly Concept[] {
  return Array.from({ length: 5 + random.whole(6) }, (_, i) => {
    const [component, scale] = [random.one(['Glucose', 'Sodium', 'Color']), random.one(['Qn', 'Ord', 'Nom'])]
    return {
      code: `${1000 + i}-${i % 10}`,
      display: `${component} ${scale} ${i}`,
      property: [
        { code: 'COMPONENT', valueString: component },
        { code: 'SCALE_TYP', valueString: scale },
        { code: 'CLASS', valueString: random.one(['CHEM', 'UA', 'HEM/BC']) },
        { code: 'STATUS', valueString: random.one(['ACTIVE', 'ACTIVE', 'DEPRECATED']) },
      ],
    }
  })
}

/** A supplement with names in Dutch. */
function supplementOf(random: Random, local: readonly Concept[]): Definition {
  const named = local.filter(() => random.seldom(2))
  return {
    resourceType: 'CodeSystem',
    url: 'http://guide/cs/local-nl',
    version: '1.0.0',
    name: 'Dutch',
    status: 'active',
    content: 'supplement',
    supplements: LOCAL,
    concept: named.map(({ code }) => ({ code, designation: [{ language: 'nl', value: `Bezoek ${code}` }] })),
  }
}

const SETS = ['all', 'listed', 'branch', 'below', 'without', 'tests', 'mixed', 'narrowed'] as const

function valueSetsOf(random: Random, codes: World['codes']): readonly Definition[] {
  const of = (system: string): string => random.one(codes.get(system) ?? [])
  const some = (system: string): readonly object[] => [...new Set([of(system), of(system), of(system)])].map((code) => ({ code }))
  const is = (property: string, op: string, value: string): object => ({ property, op, value })
  const test = (): object =>
    random.one([
      is('COMPONENT', '=', 'Glucose'),
      is('SCALE_TYP', '=', 'Qn'),
      is('SCALE_TYP', 'in', 'Ord,Nom'),
      is('CLASS', 'regex', 'CHEM|HEM.*'),
      is('STATUS', '=', 'ACTIVE'),
    ])
  const parts: Record<(typeof SETS)[number], object> = {
    all: { include: [{ system: LOCAL }] },
    listed: {
      include: [{ system: LOCAL, concept: some(LOCAL).map((one) => ({ ...one, ...(random.seldom(4) && { display: 'As we say' }) })) }],
    },
    branch: { include: [{ system: CLINICAL, filter: [is('concept', 'is-a', of(CLINICAL))] }] },
    below: { include: [{ system: CLINICAL, filter: [is('concept', 'descendent-of', random.one(['10', '20']))] }] },
    without: {
      include: [{ system: CLINICAL, filter: [is('concept', 'is-a', '10')] }],
      exclude: [
        random.seldom(2)
          ? { system: CLINICAL, concept: some(CLINICAL) }
          : { system: CLINICAL, filter: [is('concept', 'is-a', of(CLINICAL))] },
      ],
    },
    tests: { include: [{ system: TESTS, filter: random.seldom(2) ? [test()] : [test(), is('STATUS', '=', 'ACTIVE')] }] },
    mixed: { include: [{ valueSet: ['http://guide/vs/listed'] }, { system: TESTS, concept: some(TESTS) }] },
    narrowed: { include: [{ system: LOCAL, concept: some(LOCAL), valueSet: ['http://guide/vs/listed'] }] },
  }
  return SETS.map((name) => ({
    resourceType: 'ValueSet',
    url: `http://guide/vs/${name}`,
    version: '1.2.0',
    name,
    status: 'active',
    compose: parts[name],
  }))
}

function mapOf(random: Random, codes: World['codes']): Definition {
  const targets = codes.get(CLINICAL) ?? []
  const target = (): object => ({ code: random.one(targets), equivalence: random.one(['equivalent', 'wider', 'narrower', 'relatedto']) })
  const element = (codes.get(LOCAL) ?? []).map((code) => ({ code, target: random.seldom(4) ? [target(), target()] : [target()] }))
  return {
    resourceType: 'ConceptMap',
    url: 'http://guide/map',
    version: '1.2.0',
    name: 'Map',
    status: 'active',
    group: [{ source: LOCAL, target: CLINICAL, element }],
  }
}

/** Typical questions to a terminology server about a guide. */
export function guideQuestionsOf(random: Random, world: World): readonly Question[] {
  return [
    ...world.valueSets.map(({ url }) => expansionOf(random, url)),
    ...world.valueSets.map(({ url }) => validationOf(random, world, url)),
    ...[LOCAL, TESTS].map((url) => validationInSystem(random, world, url)),
    subsumptionIn(random, world, CLINICAL),
    translationOf(random, world),
  ]
}

function expansionOf(random: Random, url: string): Question {
  return {
    operation: 'expand',
    parameters: [
      { name: 'url', valueUri: url },
      ...random.one<readonly Parameter[]>([
        [],
        [{ name: 'count', valueInteger: 3 }],
        [{ name: 'activeOnly', valueBoolean: true }],
        [{ name: 'excludeNested', valueBoolean: true }],
        [{ name: 'includeDesignations', valueBoolean: true }],
        [{ name: 'displayLanguage', valueCode: 'en' }],
        [
          { name: 'useSupplement', valueCanonical: 'http://guide/cs/local-nl' },
          { name: 'displayLanguage', valueCode: 'en,nl' },
        ],
      ]),
    ],
  }
}

function codingOf(
  random: Random,
  world: World,
  system: string,
): { readonly system: string; readonly code: string; readonly display?: string } {
  const code = random.seldom(6) ? 'no-such-code' : random.one(world.codes.get(system) ?? [])
  const display = system === LOCAL ? titled(code) : system === CLINICAL ? `Finding ${code}` : `Wrong ${code}`
  return { system, code, ...(random.seldom(2) && { display: random.seldom(4) ? 'Something else' : display }) }
}

function validationOf(random: Random, world: World, url: string): Question {
  const system = url.endsWith('tests') ? TESTS : /branch|below|without/.test(url) ? CLINICAL : LOCAL
  const coding = codingOf(random, world, random.seldom(8) ? TESTS : system)
  const { code, display } = coding
  const coded = random.one<readonly Parameter[]>([
    [{ name: 'coding', valueCoding: coding }],
    [{ name: 'codeableConcept', valueCodeableConcept: { coding: [coding, codingOf(random, world, CLINICAL)] } }],
    [
      { name: 'code', valueCode: code },
      { name: 'system', valueUri: coding.system },
      ...(display === undefined ? [] : [{ name: 'display', valueString: display }]),
    ],
  ])
  return { operation: 'validate-code', parameters: [{ name: 'url', valueUri: url }, ...coded] }
}

function validationInSystem(random: Random, world: World, url: string): Question {
  const { code, display } = codingOf(random, world, url)
  return {
    operation: 'validate-code-in-system',
    parameters: [
      { name: 'url', valueUri: url },
      { name: 'code', valueCode: code },
      ...(display === undefined ? [] : [{ name: 'display', valueString: display }]),
    ],
  }
}

function translationOf(random: Random, world: World): Question {
  return {
    operation: 'translate',
    parameters: [
      { name: 'url', valueUri: 'http://guide/map' },
      { name: 'system', valueUri: LOCAL },
      { name: 'code', valueCode: random.one(world.codes.get(LOCAL) ?? []) },
    ],
  }
}
