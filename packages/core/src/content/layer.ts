import type { JsonObject } from '../json/index.js'
import type { Work } from '../work/index.js'
import type { Revised } from './kept.js'

/** A conformance or terminology resource that engines look up by canonical. */
export interface Definition {
  readonly type: string
  /** The id of the resource, where it is known before that is parsed. */
  readonly id?: string
  readonly url: string
  readonly version?: string
  /** `draft`, `active`, `retired` or `unknown`. */
  readonly status: string
  /** Same key, same content, forever: what is compiled from the definition may be cached under it. Absent for what came with a request. */
  readonly key?: string
  /** True for one that the FHIR release itself publishes: definitions of packages and of the host take its place, whatever their versions. */
  readonly isOfRelease?: true
  /** True for one that came with a request: where no version is asked for, it takes the place of all others, whatever their versions. */
  readonly isFromRequest?: true
  /** Parsed at first use; again, where there is a `head` and nobody used it for a while. */
  readonly resource: JsonObject
  /** The resource without its long list of concepts or mappings, where that is not kept: an index of it is. */
  readonly head?: JsonObject
  /** Parses the resource in pieces, where it may be long and was not parsed yet. */
  readonly parsing?: (() => Work<JsonObject>) | undefined
}

/** What definitions are looked up by: their own url, a canonical that they refer to, the type of resource that a guide has a profile for, or an OID (`urn:oid:...`) of a code system. */
export type DefinitionKey = 'url' | 'source' | 'target' | 'supplements' | 'value-set' | 'base' | 'type' | 'global' | 'identifier'

/** A source of definitions. The layers of a request are asked in order. */
export interface ContentLayer extends Revised {
  /** Every definition of the type that carries `value` under `by`, in a stable order; versions are not compared here. */
  find(type: string, by: DefinitionKey, value: string): Promise<readonly Definition[]>
  /** Every definition of the type, in a stable order, without those that are made of a canonical when it is asked for; absent where they cannot be listed. */
  all?(type: string): Promise<readonly Definition[]>
  /** What came with a request, so that engines know what it does not change. */
  readonly fromRequest?: RequestDefinitions | undefined
}

/** The urls under which something is found, by type. */
export type RequestDefinitions = ReadonlyMap<string, ReadonlySet<string>>
