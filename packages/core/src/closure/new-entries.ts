import { createPace, type OperationContext, type Pace } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import {
  and,
  bitmapFrom,
  listable,
  members,
  neededSystem,
  terminologyScope,
  type CodeSystemProvider,
  type TerminologyScope,
} from '../terminology/index.js'
import type { ClosureConcept, ClosureEntry } from './closure-state.js'

/** What an addition adds: concepts that were not in the table, and the rows between them and all others. */
export interface Addition {
  readonly concepts: readonly ClosureConcept[]
  readonly entries: readonly Omit<ClosureEntry, 'since'>[]
}

/**
 * Works out the rows that concepts add to a table.
 *
 * @throws {OperationError} `not-found` for an unknown code or code system; `parameter-invalid` for codes of different versions of one.
 */
export async function newEntries(
  ctx: OperationContext,
  known: readonly ClosureConcept[],
  given: readonly ClosureConcept[],
): Promise<Addition> {
  const scope = await terminologyScope(ctx)
  const pace = createPace(ctx)
  const systems = Map.groupBy(given, ({ system }) => system)
  const parts: Addition[] = []
  for (const [system, concepts] of systems) {
    const old = known.filter((concept) => concept.system === system)
    const provider = await providerFor(scope, system, [...old, ...concepts])
    parts.push(await additionIn(provider, { old, concepts, pace }))
  }
  return { concepts: parts.flatMap((part) => part.concepts), entries: parts.flatMap((part) => part.entries) }
}

/** Codes of different versions cannot be compared, so a table has one version of each system. */
async function providerFor(scope: TerminologyScope, system: string, concepts: readonly ClosureConcept[]): Promise<CodeSystemProvider> {
  const stated = [...new Set(concepts.flatMap(({ version }) => version ?? []))]
  const first = await chosenProvider(scope, system, stated[0])
  for (const version of stated.slice(1)) {
    const other = await chosenProvider(scope, system, version)
    if (other.header.version !== first.header.version) throw mixedVersions(first, other)
  }
  return first
}

function chosenProvider(scope: TerminologyScope, system: string, version: string | undefined): Promise<CodeSystemProvider> {
  return neededSystem(scope, { system, version, reason: 'coding', consequence: 'the code cannot be added to the closure table' })
}

function mixedVersions({ header }: CodeSystemProvider, other: CodeSystemProvider): OperationError {
  const versions = `${quoted(header.version ?? '')} and ${quoted(other.header.version ?? '')}`
  return new OperationError(
    'parameter-invalid',
    `A closure table cannot have codes of the versions ${versions} of ${quoted(header.url)}.`,
    {
      expression: ['concept'],
    },
  )
}

interface InSystem {
  readonly old: readonly ClosureConcept[]
  readonly concepts: readonly ClosureConcept[]
  readonly pace: Pace
}

/** Every pair that has at least one new concept, once: what is above a new one, and old ones that are below it. */
async function additionIn(provider: CodeSystemProvider, { old, concepts, pace }: InSystem): Promise<Addition> {
  const before = new Set(old.flatMap(({ code }) => provider.find(code) ?? []))
  const fresh = new Set(concepts.map((concept) => placeOf(provider, concept)).filter((place) => !before.has(place)))
  const [oldPlaces, allPlaces] = [placesIn(provider, [...before]), placesIn(provider, [...before, ...fresh])]
  const entries: Omit<ClosureEntry, 'since'>[] = []
  for (const place of fresh) {
    await pace.step()
    for (const above of allPlaces.above(place)) if (above !== place) entries.push(row(provider, place, above))
    for (const below of oldPlaces.below(place)) entries.push(row(provider, below, place))
  }
  return { concepts: Array.from(fresh, (place) => conceptAt(provider, place)), entries }
}

/** Some concepts of a system, asked which of them are above or below another one. */
interface Places {
  above(place: number): Iterable<number>
  below(place: number): Iterable<number>
}

/** The hierarchy lists relatives among the concepts that it lists; codes that a grammar makes are compared one by one. */
function placesIn(provider: CodeSystemProvider, places: readonly number[]): Places {
  const { hierarchy, grammar } = provider
  const isMade = (place: number): boolean => grammar?.isMade(place) === true
  const made = places.filter(isMade)
  const listed = places.filter((place) => !isMade(place))
  const bitmap = bitmapFrom(listed, listable(provider).size)
  return {
    above: (place) => {
      const among = isMade(place)
        ? listed.filter((other) => hierarchy.isWithin(place, other))
        : members(and(hierarchy.above(place), bitmap))
      return [...among, ...made.filter((other) => hierarchy.isWithin(place, other))]
    },
    below: (place) => {
      const among = isMade(place)
        ? listed.filter((other) => hierarchy.isWithin(other, place))
        : members(and(hierarchy.within(place), bitmap))
      return [...among, ...made.filter((other) => hierarchy.isWithin(other, place))]
    },
  }
}

function row(provider: CodeSystemProvider, below: number, above: number): Omit<ClosureEntry, 'since'> {
  return { system: provider.header.url, code: provider.code(below), target: provider.code(above) }
}

function conceptAt(provider: CodeSystemProvider, place: number): ClosureConcept {
  const { header } = provider
  return { system: header.url, code: provider.code(place), ...(header.version !== undefined && { version: header.version }) }
}

function placeOf(provider: CodeSystemProvider, { system, code }: ClosureConcept): number {
  const place = provider.find(code)
  if (place !== undefined) return place
  throw new OperationError('not-found', `Unable to find code ${quoted(code)} in ${quoted(system)}.`, {
    missing: { kind: 'code', name: code },
  })
}
