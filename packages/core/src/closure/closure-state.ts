import type { OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { extensionAt, isObject, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { putResource, type StoredResource } from '../storage/index.js'

/** A code of a closure table. */
export interface ClosureConcept {
  /** Url of the code system. */
  readonly system: string
  /** Version of the code system; in a table the one that was used. */
  readonly version?: string | undefined
  readonly code: string
  /** Ignored. */
  readonly display?: string | undefined
}

/** One row of a closure table: the code is below the target. */
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
  /** 0 for a new table; one more with every addition and whenever it is emptied, so that no version is used again. */
  readonly version: number
  /** The version at which it was created or last emptied. */
  readonly madeAt: number
  readonly concepts: readonly ClosureConcept[]
  /** Oldest first. */
  readonly entries: readonly ClosureEntry[]
}

/** A state as it is kept, with the version that a change must be based on. */
export interface KeptState {
  readonly state: ClosureState
  readonly versionId: string
}

const STATE = 'https://fhir-ops.dev/StructureDefinition/closure-state'

/** The table of this name, `undefined` when it was never made. */
export async function readClosure(ctx: OperationContext, name: string): Promise<KeptState | undefined> {
  const stored = await ctx.storage.read('Basic', await idOf(name))
  return stored === undefined ? undefined : { state: stateIn(stored, name), versionId: stored.versionId }
}

/**
 * Keeps a table.
 *
 * @param base The version that it was made from, `undefined` to replace whatever there is.
 * @throws {OperationError} `version-conflict` when another request was faster; `too-costly` for a table longer than `maxAnswerBytes`.
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
  await ctx.storage.write([putResource({ type: 'Basic', id, source, ifVersion: base }, () => [])])
}

function stateIn(stored: StoredResource, name: string): ClosureState {
  const extension = extensionAt(stored.resource, STATE)
  const value: unknown = JSON.parse(stringAt(extension, 'valueString') ?? 'null')
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

/** Names are free text, ids are not. */
async function idOf(name: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(name)))
  return `closure-${Array.from(digest.subarray(0, 20), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
