import { createPace, pacedResource, type OperationContext, type Pace } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { extensionAt, isObject, objectsAt, parseInPieces, stringAt, type JsonObject } from '../json/index.js'
import { puttingResource } from '../storage/index.js'
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

/** A code of a closure table. */
export interface ClosureConcept {
  /** Url of the code system. */
  readonly system: string
  /** Version of the code system; in a table, the version that was used. */
  readonly version?: string | undefined
  readonly code: string
  /** Ignored. */
  readonly display?: string | undefined
}

/** A row of a closure table: the code is below the target. */
export interface ClosureEntry {
  readonly system: string
  readonly code: string
  readonly target: string
  /** Version of the table that added the row. */
  readonly since: number
}

/** A closure table with its history. */
export interface ClosureState {
  readonly name: string
  /** 0 for a new table. Increases by one with every addition and whenever the table is emptied, so that no version is reused. */
  readonly version: number
  /** The version at which it was created or last emptied. */
  readonly madeAt: number
  readonly concepts: readonly ClosureConcept[]
  /** Oldest first. */
  readonly entries: readonly ClosureEntry[]
}

/** A stored table, with the version that a change must be based on. */
export interface KeptState {
  readonly state: ClosureState
  readonly versionId: string
}

const STATE = 'https://fhir-ops.dev/StructureDefinition/closure-state'

/** Reads the table with this name; `undefined` when it does not exist. */
export async function readClosure(ctx: OperationContext, name: string): Promise<KeptState | undefined> {
  const stored = await ctx.storage.read('Basic', await idOf(name))
  if (stored === undefined) return undefined
  const text = stringAt(extensionAt(await pacedResource(stored, ctx.scheduler), STATE), 'valueString') ?? 'null'
  return { state: stateIn(await createPace(ctx).run(parseInPieces(text)), name), versionId: stored.versionId }
}

/**
 * Stores a table.
 *
 * @param base The version that the change is based on; `undefined` to replace any version.
 * @throws {OperationError} `version-conflict` when another request has changed the table; `too-costly` for a table longer than `maxAnswerBytes`.
 */
export async function writeClosure(ctx: OperationContext, state: ClosureState, base?: string): Promise<void> {
  const text = JSON.stringify(state)
  if (text.length > ctx.limits.maxAnswerBytes) throw new OperationError('too-costly', 'The closure table has become too long.')
  const id = await idOf(state.name)
  const source = {
    resourceType: 'Basic',
    id,
    code: { text: 'Closure table' },
    extension: [{ url: STATE, valueString: text }],
  }
  const put = puttingResource({ type: 'Basic', id, source, ifVersion: base }, () => [])
  await ctx.storage.write([await createPace(ctx).run(put)])
}

function stateIn(value: unknown, name: string): ClosureState {
  if (!isObject(value)) throw new OperationError('storage-damaged', 'A closure table cannot be read.')
  return {
    name,
    version: numberAt(value, 'version'),
    madeAt: numberAt(value, 'madeAt'),
    concepts: objectsAt(value, 'concepts').map((item) => ({ ...coded(item), version: stringAt(item, 'version') })),
    entries: objectsAt(value, 'entries').map((item) => ({
      ...coded(item),
      target: stringAt(item, 'target') ?? '',
      since: numberAt(item, 'since'),
    })),
  }
}

function coded(item: JsonObject): { readonly system: string; readonly code: string } {
  return { system: stringAt(item, 'system') ?? '', code: stringAt(item, 'code') ?? '' }
}

function numberAt(item: JsonObject, member: string): number {
  const value = item[member]
  return typeof value === 'number' ? value : 0
}

/** Derives an id from a name by hashing, because names are free text. */
async function idOf(name: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(name)))
  return `closure-${Array.from(digest.subarray(0, 20), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** The content of an addition: concepts that were not in the table, and the rows between them and all others. */
interface Addition {
  readonly concepts: readonly ClosureConcept[]
  readonly entries: readonly Omit<ClosureEntry, 'since'>[]
}

/**
 * Computes the rows that concepts add to a table.
 *
 * @throws {OperationError} `not-found` for an unknown code or code system; `parameter-invalid` for codes of different versions of a code system.
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
    const provider = await providerFor(scope, { system, old, concepts, given })
    parts.push(await additionIn(provider, { old, concepts, given, pace }))
  }
  return { concepts: parts.flatMap((part) => part.concepts), entries: parts.flatMap((part) => part.entries) }
}

/** Returns the version of a system to use. A table has one version of each system, because codes of different versions cannot be compared. */
async function providerFor(scope: TerminologyScope, asked: OneSystem & { readonly system: string }): Promise<CodeSystemProvider> {
  const stated = [...new Set([...asked.old, ...asked.concepts].flatMap(({ version }) => version ?? []))]
  const first = await chosenProvider(scope, asked, stated[0])
  for (const version of stated.slice(1)) {
    const other = await chosenProvider(scope, asked, version)
    if (other.header.version !== first.header.version) throw mixedVersions(first, other)
  }
  return first
}

function chosenProvider(
  scope: TerminologyScope,
  { system, concepts, given }: OneSystem & { readonly system: string },
  version: string | undefined,
): Promise<CodeSystemProvider> {
  const place = (member: 'system' | 'version'): readonly string[] => {
    const concept = concepts.find((one) => version === undefined || one.version === version)
    return concept === undefined ? [] : [`concept[${given.indexOf(concept)}].${member}`]
  }
  return neededSystem(scope, { system, version, reason: 'coding', consequence: 'the code cannot be added to the closure table', place })
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

/** The concepts of one code system: those in the table, and those that the call adds. */
interface OneSystem {
  readonly old: readonly ClosureConcept[]
  readonly concepts: readonly ClosureConcept[]
  /** All concepts of the call. */
  readonly given: readonly ClosureConcept[]
}

/** Returns every pair with at least one new concept, once: all ancestors of a new concept, and its descendants among the old ones. */
async function additionIn(
  provider: CodeSystemProvider,
  { old, concepts, given, pace }: OneSystem & { readonly pace: Pace },
): Promise<Addition> {
  const before = new Set(old.flatMap(({ code }) => provider.find(code) ?? []))
  const fresh = new Set(concepts.map((concept) => numberOf(provider, concept, given)).filter((concept) => !before.has(concept)))
  const [among, amongAll] = [relativesAmong(provider, [...before]), relativesAmong(provider, [...before, ...fresh])]
  const entries: Omit<ClosureEntry, 'since'>[] = []
  for (const concept of provider.header.subsumes === false ? [] : fresh) {
    await pace.step()
    for (const above of amongAll.above(concept)) if (above !== concept) entries.push(row(provider, concept, above))
    for (const below of among.below(concept)) entries.push(row(provider, below, concept))
  }
  return { concepts: Array.from(fresh, (concept) => closureConcept(provider, concept)), entries }
}

/** Finds ancestors and descendants of a concept among a set of concepts. */
interface Relatives {
  above(concept: number): Iterable<number>
  below(concept: number): Iterable<number>
}

/** Uses sets of the hierarchy for listed concepts; codes that a grammar forms are compared one by one. */
function relativesAmong(provider: CodeSystemProvider, concepts: readonly number[]): Relatives {
  const { hierarchy, grammar } = provider
  const isMade = (concept: number): boolean => grammar?.isMade(concept) === true
  const made = concepts.filter(isMade)
  const listed = concepts.filter((concept) => !isMade(concept))
  const bitmap = bitmapFrom(listed, listable(provider).size)
  return {
    above: (concept) => {
      const among = isMade(concept)
        ? listed.filter((other) => hierarchy.isWithin(concept, other))
        : members(and(hierarchy.above(concept), bitmap))
      return [...among, ...made.filter((other) => hierarchy.isWithin(concept, other))]
    },
    below: (concept) => {
      const among = isMade(concept)
        ? listed.filter((other) => hierarchy.isWithin(other, concept))
        : members(and(hierarchy.within(concept), bitmap))
      return [...among, ...made.filter((other) => hierarchy.isWithin(other, concept))]
    },
  }
}

function row(provider: CodeSystemProvider, below: number, above: number): Omit<ClosureEntry, 'since'> {
  return { system: provider.header.url, code: provider.code(below), target: provider.code(above) }
}

function closureConcept(provider: CodeSystemProvider, concept: number): ClosureConcept {
  const { header } = provider
  return { system: header.url, code: provider.code(concept), ...(header.version !== undefined && { version: header.version }) }
}

function numberOf(provider: CodeSystemProvider, concept: ClosureConcept, given: readonly ClosureConcept[]): number {
  const { system, code } = concept
  const found = provider.find(code)
  if (found !== undefined) return found
  throw new OperationError('not-found', `Unable to find code ${quoted(code)} in ${quoted(system)}.`, {
    expression: [`concept[${given.indexOf(concept)}].code`],
    missing: { kind: 'code', name: code },
  })
}
