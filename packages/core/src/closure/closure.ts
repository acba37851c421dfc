import { checkpoint, explained, type Explained, type ExplainOption, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput, FLAG, inputShape, listOf, needed, objectWith, TEXT } from '../input/index.js'
import { newEntries } from './new-entries.js'
import { readClosure, writeClosure, type ClosureConcept, type ClosureEntry, type ClosureState, type KeptState } from './closure-state.js'

/** What to do with a closure table: make it anew (neither concepts nor version), add concepts, or tell what is new since a version. */
export interface ClosureInput extends ExplainOption {
  readonly name: string
  readonly concepts?: readonly ClosureConcept[] | undefined
  readonly since?: string | undefined
}

const CLOSURE_INPUT = inputShape<ClosureInput>({
  name: needed(TEXT),
  concepts: listOf(objectWith('a code with its system', { system: needed(TEXT), version: TEXT, code: needed(TEXT) })),
  since: TEXT,
  explain: FLAG,
})

/** The rows that the caller should add to its copy of the table. */
export interface ClosureResult extends Explained {
  readonly name: string
  /** Version of the table after the call, for `since`. */
  readonly version: string
  readonly entries: readonly ClosureEntry[]
}

/** Of requests that add at the same time one gets through each time. */
const ATTEMPTS = 100

/**
 * Maintains a closure table: which of the codes that were ever added are below which others. The table is kept in the storage under its
 * name, for every caller that knows the name.
 *
 * @throws {OperationError} `not-found` for a table that was not made, and for an unknown code or code system; `parameter-value` for a version
 *   that the table never had, or had before it was made anew; `parameter-invalid` for concepts and version together, and for concepts of
 *   different versions of one code system: the first codes of a system fix its version for the table.
 * @see https://hl7.org/fhir/R4/conceptmap-operation-closure.html
 */
export function closure(ctx: OperationContext, input: ClosureInput): Promise<ClosureResult> {
  return explained(ctx, input, (own) => maintained(own, input))
}

async function maintained(ctx: OperationContext, input: ClosureInput): Promise<ClosureResult> {
  checkInput(ctx, input, CLOSURE_INPUT)
  const concepts = input.concepts ?? []
  if (concepts.length > 0 && input.since !== undefined) {
    throw new OperationError('parameter-invalid', 'Concepts and version cannot be given together.', { expression: ['version'] })
  }
  if (input.since !== undefined) return replayed((await existing(ctx, input.name)).state, input.since)
  return concepts.length === 0 ? started(ctx, input.name) : added(ctx, input.name, concepts)
}

async function started(ctx: OperationContext, name: string): Promise<ClosureResult> {
  const before = await readClosure(ctx, name)
  const version = before === undefined ? 0 : before.state.version + 1
  await writeClosure(ctx, { name, version, madeAt: version, concepts: [], entries: [] })
  return { name, version: String(version), entries: [] }
}

async function existing(ctx: OperationContext, name: string): Promise<KeptState> {
  const kept = await readClosure(ctx, name)
  if (kept !== undefined) return kept
  throw new OperationError('not-found', `There is no closure table ${quoted(name)}; it is made by a call without concepts.`)
}

function replayed({ name, version, madeAt, entries }: ClosureState, since: string): ClosureResult {
  const from = /^\d{1,9}$/.test(since) ? Number(since) : Number.NaN
  if (!(from >= madeAt && from <= version)) {
    const text =
      from < madeAt
        ? `The closure table was made anew after the version ${quoted(since)}.`
        : `The closure table never had the version ${quoted(since)}.`
    throw new OperationError('parameter-value', text, { expression: ['version'] })
  }
  return { name, version: String(version), entries: entries.filter((entry) => entry.since > from) }
}

/** Tries again when another request has added to the table in between. */
async function added(ctx: OperationContext, name: string, concepts: readonly ClosureConcept[]): Promise<ClosureResult> {
  for (let attempt = 1; ; attempt++) {
    checkpoint(ctx)
    try {
      return await addedOnce(ctx, name, concepts)
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof OperationError) || error.code !== 'version-conflict') throw error
    }
  }
}

async function addedOnce(ctx: OperationContext, name: string, concepts: readonly ClosureConcept[]): Promise<ClosureResult> {
  const { state, versionId } = await existing(ctx, name)
  const version = state.version + 1
  const found = await newEntries(ctx, state.concepts, concepts)
  const entries = found.entries.map((entry) => ({ ...entry, since: version }))
  const next = { ...state, version, concepts: [...state.concepts, ...found.concepts], entries: [...state.entries, ...entries] }
  await writeClosure(ctx, next, versionId)
  return { name, version: String(version), entries }
}
