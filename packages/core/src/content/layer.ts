import { LRUCache } from 'lru-cache'
import type { JsonObject } from '../json/index.js'
import type { Work } from '../work/index.js'

/** A conformance or terminology resource that engines look up by canonical. */
export interface Definition {
  readonly type: string
  /** The id of the resource, where it is known before the resource is parsed. */
  readonly id?: string
  readonly url: string
  readonly version?: string
  /** `draft`, `active`, `retired` or `unknown`. */
  readonly status: string
  /** The same key always means the same content, so results derived from the definition may be cached under it. Absent for definitions of a request. */
  readonly key?: string
  /** True for a definition of the FHIR release itself: definitions of packages and of the host replace it, whatever their versions. */
  readonly isOfRelease?: true
  /** True for a definition that came with a request: where no version is requested, it replaces all others, whatever their versions. */
  readonly isFromRequest?: true
  /** Parsed at first use; where there is a `head`, it may be parsed again after a time without use. */
  readonly resource: JsonObject
  /** The resource without its long list of concepts or mappings; present where only an index of that list is kept. */
  readonly head?: JsonObject
  /** Parses the resource in steps, where it may be long and has not been parsed yet. */
  readonly parsing?: (() => Work<JsonObject>) | undefined
}

/**
 * Keys by which definitions are found: their own url, a canonical that they refer to, the type of resource that a guide has a global profile for, or an
 * OID (`urn:oid:...`) of a code system.
 */
export type DefinitionKey = 'url' | 'source' | 'target' | 'supplements' | 'value-set' | 'base' | 'type' | 'global' | 'identifier'

/** A source of definitions. The layers of a request are searched in order. */
export interface ContentLayer extends Revised {
  /** Returns all definitions of the type with `value` under the key `by`, in a stable order; versions are not compared. */
  find(type: string, by: DefinitionKey, value: string): Promise<readonly Definition[]>
  /** Returns all definitions of the type, in a stable order, except those that are created on request from a canonical; absent where they cannot be listed. */
  all?(type: string): Promise<readonly Definition[]>
  /** The definitions that came with a request, so that engines can tell which results they do not affect. */
  readonly fromRequest?: RequestDefinitions | undefined
}

/** Urls of definitions, by type. */
export type RequestDefinitions = ReadonlyMap<string, ReadonlySet<string>>

/** A source whose content may change. */
export interface Revised {
  /**
   * A number that increases whenever the result of a read may have changed, also by a write of another process. Costs at most one query;
   * absent where that is not possible.
   *
   * @throws {OperationError} as a read would.
   */
  readonly revision?: (() => number | Promise<number>) | undefined
}

/** Results that were derived from definitions, by a name that identifies the computation. */
export interface Kept {
  get(name: string): object | undefined
  set(name: string, value: object): void
}

/** Maximum number of names; requests may choose names. */
const MOST = 1_000

/**
 * Keeps derived results for as long as their sources have not changed.
 *
 * @returns A function that returns the current results: a new, empty object after a change, so that results computed during the change are not
 *   found later. `undefined` when one of the sources has no `revision`.
 */
export function keptWhile(watched: readonly Revised[]): () => Kept | undefined | Promise<Kept> {
  // Parts of one database share a revision function.
  const revisions = [...new Set(watched.map(({ revision }) => revision))]
  const known = revisions.filter((revision) => revision !== undefined)
  let kept: Kept | undefined
  let seen: readonly number[] = []
  const keptAt = (numbers: readonly number[]): Kept => {
    if (kept === undefined || numbers.some((number, i) => number !== seen[i])) kept = new LRUCache<string, object>({ max: MOST })
    seen = numbers
    return kept
  }
  return () => {
    if (known.length < revisions.length) return undefined
    const numbers = known.map((revision) => revision())
    return numbers.every((one) => typeof one === 'number') ? keptAt(numbers) : Promise.all(numbers.map(async (one) => one)).then(keptAt)
  }
}
