import type { Random } from '../../fuzz/random.js'
import { LANGUAGES, UNKNOWN_SYSTEM, type World } from './world.js'

/** The operations, by the oracle's names for them. */
export type Operation = 'expand' | 'validate-code' | 'validate-code-in-system' | 'subsumes' | 'translate'

/** A parameter of a request. */
export interface Parameter {
  readonly name: string
  readonly [value: string]: unknown
}

/** A question about a world, for both programs. */
export interface Question {
  readonly operation: Operation
  readonly parameters: readonly Parameter[]
}

const VERSIONS = ['1.0.0', '2.0.0', '1', '9']

/** Creates random questions about a world. */
export function questionsOf(random: Random, world: World): readonly Question[] {
  return [
    ...world.valueSets.map(({ url }) => expansionOf(random, url)),
    ...[1, 2, 3, 4, 5].map(() => validationOf(random, world, random.one(world.valueSets).url)),
    validationInSystem(random, world),
    subsumptionOf(random, world),
    translationOf(random, world),
  ]
}

function expansionOf(random: Random, url: string): Question {
  const parameters: Parameter[] = [{ name: 'url', valueUri: url }]
  if (random.seldom(3)) parameters.push({ name: 'excludeNested', valueBoolean: random.seldom(2) })
  if (random.seldom(4)) parameters.push({ name: 'activeOnly', valueBoolean: !random.seldom(3) })
  if (random.seldom(3)) parameters.push({ name: 'includeDesignations', valueBoolean: true })
  if (random.seldom(10))
    parameters.push({ name: 'designation', valueString: random.one(['urn:ietf:bcp:47|de', 'urn:ietf:bcp:47|fr', 'http://x/use|other']) })
  if (random.seldom(3)) parameters.push(languageOf(random))
  if (random.seldom(8)) parameters.push({ name: 'excludeNotForUI', valueBoolean: true })
  if (random.seldom(8)) parameters.push({ name: 'count', valueInteger: random.whole(4) })
  if (random.seldom(8)) parameters.push({ name: 'offset', valueInteger: random.whole(4) })
  for (const property of ['text', 'kind', 'definition', 'flag', 'status'])
    if (random.seldom(8)) parameters.push({ name: 'property', valueString: property })
  parameters.push(...versionsOf(random))
  return { operation: 'expand', parameters }
}

function validationOf(random: Random, world: World, url: string): Question {
  const parameters: Parameter[] = [{ name: 'url', valueUri: url }, ...codedOf(random, world, 'systemVersion')]
  if (random.seldom(5)) parameters.push(languageOf(random))
  if (random.seldom(6)) parameters.push({ name: 'activeOnly', valueBoolean: true })
  if (random.seldom(6)) parameters.push({ name: 'abstract', valueBoolean: random.seldom(2) })
  if (random.seldom(8)) parameters.push({ name: 'lenient-display-validation', valueBoolean: true })
  if (random.seldom(10)) parameters.push({ name: 'valueset-membership-only', valueBoolean: true })
  parameters.push(...versionsOf(random))
  return { operation: 'validate-code', parameters }
}

function validationInSystem(random: Random, world: World): Question {
  const { code, version, display } = codingOf(random, world)
  const url = random.one(['http://x/cs/a', 'http://x/cs/b'])
  return {
    operation: 'validate-code-in-system',
    parameters: [
      { name: 'url', valueUri: url },
      { name: 'code', valueCode: code },
      ...(version === undefined ? [] : [{ name: 'version', valueString: version }]),
      ...(display === undefined ? [] : [{ name: 'display', valueString: display }]),
      ...(random.seldom(5) ? [languageOf(random)] : []),
    ],
  }
}

function codedOf(random: Random, world: World, versionName: string): readonly Parameter[] {
  const kind = random.whole(3)
  if (kind === 0) return [{ name: 'coding', valueCoding: codingOf(random, world) }]
  if (kind === 1)
    return [
      {
        name: 'codeableConcept',
        valueCodeableConcept: { coding: [codingOf(random, world), ...random.some(2, () => codingOf(random, world))] },
      },
    ]
  const { system, code, version, display } = codingOf(random, world)
  const infers = random.seldom(5)
  return [
    { name: 'code', valueCode: code },
    ...(infers ? [{ name: 'inferSystem', valueBoolean: true }] : [{ name: 'system', valueUri: system }]),
    ...(version === undefined || infers ? [] : [{ name: versionName, valueString: version }]),
    ...(display === undefined ? [] : [{ name: 'display', valueString: display }]),
  ]
}

interface Coding {
  readonly system: string
  readonly code: string
  readonly version?: string
  readonly display?: string
}

function codingOf(random: Random, world: World): Coding {
  const system = random.seldom(20) ? UNKNOWN_SYSTEM : random.one(['http://x/cs/a', 'http://x/cs/a', 'http://x/cs/b'])
  const known = random.one(world.codes.get(system) ?? ['a'])
  const code = random.seldom(8) ? random.one(['nothing', 'A', 'AB', 'B']) : known
  return {
    system,
    code,
    ...(random.seldom(5) && { version: random.one(VERSIONS) }),
    ...(random.seldom(3) && { display: `${random.one(['Display', 'Display', 'display', 'Anzeige', 'Own', 'Wrong'])} ${code}` }),
  }
}

function subsumptionOf(random: Random, world: World): Question {
  return subsumptionIn(random, world, random.one(['http://x/cs/a', 'http://x/cs/b']))
}

/** Whether one code of a code system subsumes another. */
export function subsumptionIn(random: Random, world: World, system: string): Question {
  const known = world.codes.get(system) ?? []
  return {
    operation: 'subsumes',
    parameters: [
      { name: 'system', valueUri: system },
      { name: 'codeA', valueCode: random.one(known) },
      { name: 'codeB', valueCode: random.one(known) },
    ],
  }
}

function translationOf(random: Random, world: World): Question {
  return {
    operation: 'translate',
    parameters: [
      { name: 'url', valueUri: 'http://x/map' },
      { name: 'system', valueUri: random.one(['http://x/cs/a', 'http://x/cs/a', 'http://x/cs/b']) },
      { name: 'code', valueCode: random.one(world.codes.get('http://x/cs/a') ?? []) },
      ...(random.seldom(6) ? [{ name: 'version', valueString: random.one(VERSIONS) }] : []),
    ],
  }
}

function languageOf(random: Random): Parameter {
  return { name: 'displayLanguage', valueCode: random.seldom(6) ? 'de-CH,fr;q=0.5' : random.one(LANGUAGES) }
}

/** Random rules for versions in a request. */
function versionsOf(random: Random): readonly Parameter[] {
  if (!random.seldom(6)) return []
  return random.one([
    [{ name: 'system-version', valueUri: `http://x/cs/a|${random.one(VERSIONS)}` }],
    [{ name: 'force-system-version', valueUri: `http://x/cs/a|${random.one(VERSIONS)}` }],
    [{ name: 'check-system-version', valueUri: `http://x/cs/a|${random.one(VERSIONS)}` }],
    [{ name: 'default-valueset-version', valueUri: `http://x/vs/1|${random.one(['1.0.0', '5'])}` }],
    [{ name: 'useSupplement', valueCanonical: random.one(['http://x/cs/a-more', 'http://x/cs/a-more', 'http://x/cs/nothing']) }],
  ])
}
