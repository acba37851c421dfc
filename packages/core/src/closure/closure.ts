import type { ConceptMap, ConceptMapGroupElement } from 'fhir/r4.js'
import { checkpoint, explained, type Explained, type ExplainOption, type OperationContext } from '../context/index.js'
import { checkResult, OperationError, quoted } from '../errors/index.js'
import { explanationExtension } from '../explain/index.js'
import { checkInput, FLAG, inputShape, listOf, needed, objectWith, TEXT } from '../input/index.js'
import {
  newEntries,
  readClosure,
  writeClosure,
  type ClosureConcept,
  type ClosureEntry,
  type ClosureState,
  type KeptState,
} from './closure-state.js'

/** Input of `closure`: creates or empties a table (without `concepts` and `since`), adds concepts, or returns the rows added since a version. */
export interface ClosureInput extends ExplainOption {
  /** Name of the table. */
  readonly name: string
  /** Codes to add. */
  readonly concepts?: readonly ClosureConcept[] | undefined
  /** A version that an earlier call returned; only rows added after it are returned. */
  readonly since?: string | undefined
}

const CLOSURE_INPUT = inputShape<ClosureInput>({
  name: needed(TEXT),
  concepts: listOf(objectWith('a code with its system', { system: needed(TEXT), version: TEXT, code: needed(TEXT), display: TEXT })),
  since: TEXT,
  explain: FLAG,
})

/** Changes of a closure table: the rows that the caller should add to its copy. */
export interface ClosureResult extends Explained {
  readonly name: string
  /** Version of the table after the call, for `since`. */
  readonly version: string
  /** Time of the answer, as a FHIR dateTime. */
  readonly date: string
  readonly entries: readonly ClosureEntry[]
}

const MAX_NAME = 256

/** Maximum number of attempts: of requests that add at the same time, one succeeds in each round. */
const ATTEMPTS = 100

/**
 * Maintains a closure table, which records which of the codes added so far are below which others. The storage holds the table under its name, for every
 * caller that knows the name.
 *
 * @throws {OperationError} `parameter-value` and `parameter-too-long` for an invalid name; `not-found` for a table that does not exist, and
 *   for an unknown code or code system; `parameter-value` for a version that the table never had, or had before it was last emptied;
 *   `parameter-invalid` for concepts and version together, and for concepts of different versions of one code system: the first codes of a system fix
 *   its version for the table.
 * @see https://hl7.org/fhir/R4/conceptmap-operation-closure.html
 */
export function closure(ctx: OperationContext, input: ClosureInput): Promise<ClosureResult> {
  return explained(ctx, input, async (own) => ({ ...(await maintain(own, input)), date: own.now().toISOString() }))
}

/** A result without its date. */
type Change = Omit<ClosureResult, 'date' | 'explanation'>

async function maintain(ctx: OperationContext, input: ClosureInput): Promise<Change> {
  checkInput(ctx, input, CLOSURE_INPUT)
  checkpoint(ctx)
  checkName(input.name)
  const concepts = input.concepts ?? []
  if (concepts.length > 0 && input.since !== undefined) {
    throw new OperationError('parameter-invalid', 'Concepts and version cannot be given together.', { expression: ['version'] })
  }
  if (input.since !== undefined) return replayed((await existing(ctx, input.name)).state, input.since)
  return concepts.length === 0 ? startTable(ctx, input.name) : addConcepts(ctx, input.name, concepts)
}

async function startTable(ctx: OperationContext, name: string): Promise<Change> {
  const before = await readClosure(ctx, name)
  const version = before === undefined ? 0 : before.state.version + 1
  await writeClosure(ctx, { name, version, madeAt: version, concepts: [], entries: [] })
  return { name, version: String(version), entries: [] }
}

/** Applies the rules for texts of a request: not empty, and without surrounding blanks, which other callers would overlook. */
function checkName(name: string): void {
  if (name.length > MAX_NAME)
    throw new OperationError('parameter-too-long', `The name must have at most ${MAX_NAME} characters.`, { expression: ['name'] })
  if (name === '' || name.trim() !== name)
    throw new OperationError('parameter-value', 'The name must not be empty, nor begin or end with a blank.', { expression: ['name'] })
}

async function existing(ctx: OperationContext, name: string): Promise<KeptState> {
  const kept = await readClosure(ctx, name)
  if (kept !== undefined) return kept
  throw new OperationError('not-found', `There is no closure table ${quoted(name)}; a call without concepts creates it.`, {
    expression: ['name'],
  })
}

function replayed({ name, version, madeAt, entries }: ClosureState, since: string): Change {
  const from = /^\d{1,9}$/.test(since) ? Number(since) : Number.NaN
  if (!(from >= madeAt && from <= version)) {
    const text =
      from < madeAt
        ? `The closure table was emptied after version ${quoted(since)}.`
        : `The closure table never had version ${quoted(since)}.`
    throw new OperationError('parameter-value', text, { expression: ['version'] })
  }
  return { name, version: String(version), entries: entries.filter((entry) => entry.since > from) }
}

/** Retries when another request has changed the table meanwhile. */
async function addConcepts(ctx: OperationContext, name: string, concepts: readonly ClosureConcept[]): Promise<Change> {
  for (let attempt = 1; ; attempt++) {
    checkpoint(ctx)
    try {
      return await addedOnce(ctx, name, concepts)
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof OperationError) || error.code !== 'version-conflict') throw error
    }
  }
}

async function addedOnce(ctx: OperationContext, name: string, concepts: readonly ClosureConcept[]): Promise<Change> {
  const { state, versionId } = await existing(ctx, name)
  const version = state.version + 1
  const found = await newEntries(ctx, state.concepts, concepts)
  const entries = found.entries.map((entry) => ({ ...entry, since: version }))
  const next = { ...state, version, concepts: [...state.concepts, ...found.concepts], entries: [...state.entries, ...entries] }
  await writeClosure(ctx, next, versionId)
  return { name, version: String(version), entries }
}

/** Creates the ConceptMap that `$closure` returns: each code is an element, and its targets are the codes that subsume it. */
export function toConceptMap(result: ClosureResult): ConceptMap {
  checkResult('closure', result, 'entries')
  const { name, version, date, entries, explanation } = result
  const group = Array.from(
    Map.groupBy(entries, ({ system }) => system),
    ([system, rows]) => ({ source: system, target: system, element: elementsOf(rows) }),
  )
  const extension = explanationExtension(explanation)
  return {
    resourceType: 'ConceptMap',
    ...(extension.length > 0 && { extension }),
    version,
    name: `Closure table ${name}`,
    status: 'active',
    experimental: true,
    date,
    ...(group.length > 0 && { group }),
  }
}

function elementsOf(rows: readonly ClosureEntry[]): ConceptMapGroupElement[] {
  return Array.from(
    Map.groupBy(rows, ({ code }) => code),
    ([code, targets]) => ({ code, target: targets.map(({ target }) => ({ code: target, equivalence: 'subsumes' as const })) }),
  )
}
