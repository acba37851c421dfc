import type { FhirNode, FhirPathContext } from '../../fhirpath/index.js'
import type { JsonObject } from '../../json/index.js'
import type { Narrative } from '../rules/narrative/read-narrative.js'
import type { CodeList } from './definitions.js'
import type { ElementRule } from './element-rule.js'
import type { Finding } from './finding.js'

/** Indexes of the resource that rules use, each built at first use and most keyed by an object of the resource. */
export interface Indexes {
  readonly bundles: Map<object, BundleIndex>
  /** Contained resources by id. */
  readonly contained: Map<object, ReadonlyMap<string, FhirNode>>
  /** Ids of elements and anchors of narratives, with the number of their occurrences. */
  readonly anchors: Map<object, ReadonlyMap<string, number>>
  /** The value sets to which each CodeableConcept is bound, by the object of the concept. */
  readonly boundLists: Map<object, () => readonly CodeList[]>
  /** Evaluation contexts of expressions, by the resource's node. */
  readonly contexts: Map<FhirNode, FhirPathContext>
  /** The first error because of which a node does not conform to a profile, as far as this was tried, by place and profile; `undefined` if it conforms. */
  readonly trials: Map<string, Finding | undefined>
  /** Narratives that were read before they are visited, by their text. */
  readonly narratives: Map<string, Narrative>
  /** Indexes of the ElementDefinitions of definitions. */
  readonly elements: Map<object, ElementIndex>
  /** The profiles of the request for the resources of entries, by the value of the Bundle and the position of the entry. */
  readonly entryProfiles: Map<object, ReadonlyMap<number, readonly EntryProfile[]>>
  /** What profiles mark as `mustSupport`. */
  readonly support: SupportIndex
}

/** What a walk has come across of the elements that profiles mark as `mustSupport`. */
interface SupportIndex {
  /** Nodes of whose members profiles say whether they are marked, with the canonicals of these profiles. */
  readonly judged: Map<FhirNode, readonly string[]>
  /** Resources, with the rules of the profiles that mark elements. */
  readonly resources: Map<FhirNode, readonly ElementRule[]>
  /** The rules of marked elements with content, by resource. */
  readonly shown: Map<FhirNode, Set<ElementRule>>
}

/** What a walk has come across, for rules about repetition. A trial has its own, because the walk comes across the same after it. */
export interface Seen {
  /** Ids of elements in each resource. */
  ids: Map<object, Set<string>> | undefined
  /** Canonicals of outdated extensions that were reported. */
  outdated: Set<string> | undefined
}

/** What a walk has come across at its start. */
export function nothingSeen(): Seen {
  return { ids: undefined, outdated: undefined }
}

/** The ElementDefinitions of a definition. */
export interface ElementIndex {
  readonly byId: ReadonlyMap<unknown, JsonObject>
  /** Those that are not slices. */
  readonly byPath: ReadonlyMap<unknown, JsonObject>
  /** Those with `[x]` at the end of their path. */
  readonly choices: readonly JsonObject[]
}

/** Creates each map at first use. A class, because creating eight maps for each resource took a tenth of the time of a small one: bench `validate`. */
class LazyIndexes implements Indexes {
  #bundles: Indexes['bundles'] | undefined
  #contained: Indexes['contained'] | undefined
  #anchors: Indexes['anchors'] | undefined
  #boundLists: Indexes['boundLists'] | undefined
  #contexts: Indexes['contexts'] | undefined
  #trials: Indexes['trials'] | undefined
  #narratives: Indexes['narratives'] | undefined
  #elements: Indexes['elements'] | undefined
  #entryProfiles: Indexes['entryProfiles'] | undefined
  #support: Indexes['support'] | undefined

  get bundles(): Indexes['bundles'] {
    return (this.#bundles ??= new Map())
  }
  get contained(): Indexes['contained'] {
    return (this.#contained ??= new Map())
  }
  get anchors(): Indexes['anchors'] {
    return (this.#anchors ??= new Map())
  }
  get boundLists(): Indexes['boundLists'] {
    return (this.#boundLists ??= new Map())
  }
  get contexts(): Indexes['contexts'] {
    return (this.#contexts ??= new Map())
  }
  get trials(): Indexes['trials'] {
    return (this.#trials ??= new Map())
  }
  get narratives(): Indexes['narratives'] {
    return (this.#narratives ??= new Map())
  }
  get elements(): Indexes['elements'] {
    return (this.#elements ??= new Map())
  }
  get entryProfiles(): Indexes['entryProfiles'] {
    return (this.#entryProfiles ??= new Map())
  }
  get support(): Indexes['support'] {
    return (this.#support ??= { judged: new Map(), resources: new Map(), shown: new Map() })
  }
}

/** Creates the empty indexes of a resource; each is built at first use. */
export function emptyIndexes(): Indexes {
  return new LazyIndexes()
}

/** A profile that the resources of some entries of Bundles must conform to. */
export interface EntryProfile {
  /** A type, a position from 0, or both with a colon between them, the position among resources of that type. */
  readonly rule: string
  /** Whether the rule selects one entry by its position. */
  readonly isOne: boolean
  readonly canonical: string
}

/** An entry of a Bundle with a resource. */
export interface BundleEntry {
  readonly entry: FhirNode
  readonly resource: FhirNode
  readonly fullUrl: string | undefined
  /** `Type/id`, when the resource has an id. */
  readonly address: string | undefined
}

/** The entries of a Bundle that references within it can lead to. */
export interface BundleIndex {
  readonly entries: readonly BundleEntry[]
  readonly byFullUrl: ReadonlyMap<string, readonly BundleEntry[]>
  readonly byAddress: ReadonlyMap<string, readonly BundleEntry[]>
  /** The base of relative references in an entry, by the JSON value of the entry. */
  readonly bases: ReadonlyMap<unknown, string | undefined>
}
