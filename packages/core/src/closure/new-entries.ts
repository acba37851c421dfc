import { createPace, type OperationContext, type Pace } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import {
  and,
  bitmapFrom,
  listable,
  members,
  preparedChoice,
  refusal,
  terminologyScope,
  unknownSystemValues,
  versionStep,
  type CodeSystemProvider,
  type TerminologyScope,
} from '../terminology/index.js'
import type { ClosureConcept, ClosureEntry } from './closure-state.js'

/** What an addition brings: concepts that the table had not, and the rows between them and all others. */
export interface Addition {
  readonly concepts: readonly ClosureConcept[]
  readonly entries: readonly Omit<ClosureEntry, 'since'>[]
}

/**
 * Works out the rows that concepts add to a table.
 *
 * @throws {OperationError} `not-found` for an unknown code or code system.
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
    parts.push(await additionIn(await providerFor(scope, concepts[0]), { old, concepts, pace }))
  }
  return { concepts: parts.flatMap((part) => part.concepts), entries: parts.flatMap((part) => part.entries) }
}

async function providerFor(scope: TerminologyScope, concept: ClosureConcept | undefined): Promise<CodeSystemProvider> {
  const family = await scope.family(concept?.system ?? '')
  const choice = await preparedChoice(family, { include: concept?.version, rules: scope.rules })
  scope.ctx.explain?.step(versionStep(choice, 'coding'))
  const { provider, wished } = choice
  if (provider !== undefined) return provider
  const [id, values] = unknownSystemValues(family, wished, 'validated')
  throw refusal(id, values, { code: 'not-found' })
}

interface InSystem {
  readonly old: readonly ClosureConcept[]
  readonly concepts: readonly ClosureConcept[]
  readonly pace: Pace
}

/** Every pair that has at least one new concept, once: what is above a new one, and old ones that are below it. */
async function additionIn(provider: CodeSystemProvider, { old, concepts, pace }: InSystem): Promise<Addition> {
  const { size } = listable(provider)
  const before = bitmapFrom(
    old.flatMap(({ code }) => provider.find(code) ?? []),
    size,
  )
  const fresh = new Map(concepts.map((concept) => [placeOf(provider, concept), concept] as const).filter(([place]) => !before.has(place)))
  const after = bitmapFrom([...members(before), ...fresh.keys()], size)
  const entries: Omit<ClosureEntry, 'since'>[] = []
  for (const place of fresh.keys()) {
    if (pace.due()) await pace.pause()
    const above = [...members(and(provider.hierarchy.above(place), after))].filter((other) => other !== place)
    const below = members(and(provider.hierarchy.within(place), before))
    entries.push(...above.map((other) => row(provider, place, other)), ...Array.from(below, (other) => row(provider, other, place)))
  }
  return { concepts: [...fresh.values()], entries }
}

function row(provider: CodeSystemProvider, below: number, above: number): Omit<ClosureEntry, 'since'> {
  return { system: provider.header.url, code: provider.code(below), target: provider.code(above) }
}

function placeOf(provider: CodeSystemProvider, { system, code }: ClosureConcept): number {
  const place = provider.find(code)
  if (place !== undefined) return place
  throw new OperationError('not-found', `Unable to find code ${quoted(code)} in ${quoted(system)}.`)
}
