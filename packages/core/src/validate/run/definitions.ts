import type { ConceptStatus, Filter } from '../../code-system/index.js'
import type { RequestDefinitions } from '../../content/index.js'
import type { OtherRelease } from '../../cross-version/index.js'
import type { CompiledPath, Pending } from '../../fhirpath/index.js'
import type { JsonObject, JsonSource } from '../../json/index.js'
import type { LinearRegex } from '../../regex/index.js'
import type { CodeSystemProvider, StatusNote, SystemFamily } from '../../terminology/index.js'
import type { Profile } from './element-rule.js'

/** What the walk knows from outside the resource. `PENDING` is the answer to a question that has to be fetched before the next walk. */
export interface Definitions extends CodeDefinitions, ResourceDefinitions, StoredResources {
  /** The definition of a type of the release. */
  readonly baseType: (type: string) => Profile | undefined | Pending
  /** A StructureDefinition by canonical, with or without version; `undefined` when there is none. */
  readonly profile: (canonical: string) => Profile | undefined | Pending
  /**
   * An invariant's expression, compiled once per cache.
   *
   * @throws {OperationError} `fhirpath-invalid` for one that is not FHIRPath.
   */
  readonly expression: (expression: string) => CompiledPath
  /** The regular expression of a definition, compiled once per cache; `undefined` for one that cannot be used, which restricts nothing. */
  readonly pattern: (pattern: string) => LinearRegex | undefined
  /** A release other than R4 by its number, `5.0`; `undefined` where its elements are not known. */
  readonly otherRelease: (release: string) => OtherRelease | undefined
  /** Fetches what the walk asked for; `undefined` when it had all that it needed. */
  readonly settle: () => Promise<void> | undefined
}

/** Definitions that rules read as they are. */
export interface ResourceDefinitions {
  /** The resource of a type with a canonical, with or without version; `undefined` when there is none. */
  readonly definition: (type: string, canonical: string) => JsonObject | undefined | Pending
  /** The types of the definitions that a canonical leads to. */
  readonly kinds: (canonical: string) => readonly string[] | Pending
  /** Canonicals of the profiles that ImplementationGuides set for all resources of a type. */
  readonly globalProfiles: (type: string) => readonly string[] | Pending
  /** The urls of the code systems that have an OID, `urn:oid:...`, as an identifier. */
  readonly systemsWithOid: (oid: string) => readonly string[] | Pending
  /** Whether any StructureDefinition builds on the one with this url. */
  readonly isBase: (url: string) => boolean | Pending
}

/** What references lead to. */
export interface StoredResources {
  /** What is stored under a type and an id, where the caller may read it; `undefined` otherwise. */
  readonly stored: (type: string, id: string) => JsonSource | undefined | Pending
}

/** Value sets and code systems. */
export interface CodeDefinitions {
  /** A value set by canonical; `undefined` when there is none that can be used. */
  readonly valueSet: (canonical: string) => CodeList | undefined | Pending
  /** The same for the value sets of FHIR's own types, which are looked up once. */
  readonly baseValueSet: (canonical: string) => CodeList | undefined | Pending
  /** A value set that another resource contains. */
  readonly givenValueSet: (resource: JsonObject) => CodeList | undefined | Pending
  /** Everything known under a canonical; the version that it names is ready to be asked, or the newest. */
  readonly codeSystem: (canonical: string) => SystemFamily | Pending
  /** What is wrong with the value of a filter, for people, as far as the code system of this url says that without any release. */
  readonly filterProblem: (url: string, filter: Filter) => string | undefined
}

/** A code of a resource. Without system it is one of the value set's own. */
export interface GivenCode {
  readonly system?: string | undefined
  readonly version?: string | undefined
  readonly code: string
}

/** Whether a code is in a value set; `unknown` when that needs content that is not available. */
export type Verdict = 'in' | 'out' | 'unknown'

/** How a code without version is in a value set: there, or perhaps; not there; there with something to be said of it: outdated, or of several code systems. */
export type CodeFit = 'fine' | 'out' | 'questionable'

/** What a value set names and could not be found. */
export interface Lacking {
  readonly kind: 'value set' | 'supplement'
  readonly canonical: string
}

/** A value set whose codes can be looked up. */
export interface CodeList {
  /** `url|version`. */
  readonly canonical: string
  readonly title: string
  /** By which path it imports itself. */
  readonly circle?: string
  /** Why it cannot be used, or not for the codes of which it says nothing. Absent for one that can. */
  readonly problem?: string | undefined
  readonly has: (code: GivenCode) => Verdict
  /** Whether it lists a code itself, one by one with others, by any code system: what a code without system can mean. */
  readonly lists: (code: string) => boolean
  /** Whether it has no other codes than those of one list, or of one code system. */
  readonly isOneList: boolean
  /** How a code is in it, for most codes of a resource, about which nothing more is to be said. One without system is of the value set's own. */
  readonly fit: (code: string, system: string | undefined) => CodeFit
  /** What should be known about the value set and the code system when it is used for the value set: drafts, experiments and the like. */
  readonly notes: (system: string) => readonly StatusNote[]
  /** The versions of a code system that it takes codes from, as far as these have versions, and whether it states them itself. */
  readonly versions: (system: string) => { readonly known: readonly string[]; readonly areStated: boolean }
  /** Versions of a code system, or of any, that it states and that could not be found, so that codes may be of them. */
  readonly missingVersions: (system: string | undefined) => readonly string[]
  /** Value sets that it imports, and that could not be found, where a code may be of them; and supplements that it requires. */
  readonly lacking: (code: GivenCode) => readonly Lacking[]
  /** Displays that it gives a code where it lists its codes one by one. */
  readonly displays: (code: GivenCode) => readonly string[]
  /** The code systems by which it has a code, where it takes codes from several. */
  readonly systemsOf: (code: string) => readonly string[]
  /** `deprecated` or `withdrawn` for a code that it lists, and says to be so. */
  readonly outdated: (code: GivenCode) => string | undefined
  /** Why a code that a resource gives without system should not be used, by the code system from which it takes the code. */
  readonly outOfUse: (code: string) => OutOfUse | undefined
  /** Whether it takes only active codes, and this one is inactive. */
  readonly isBarred: (code: GivenCode) => boolean
  /** Its codes, as far as they are listed one by one or come from a code system of at most a thousand. */
  readonly members: () => readonly GivenCode[]
  /** Codes of it that a wrong one may mean, the nearest first; all of a short list when none is near. */
  readonly suggestions: (code: GivenCode) => readonly string[]
  /** False once a code system of it has become one for a single request. */
  readonly lasts: () => boolean
  /** Whether definitions with these urls would take the place of something that it was made of. */
  readonly restsOn: (fromRequest: RequestDefinitions) => boolean
}

/** Why a code should not be used any more. */
export type OutOfUse = 'inactive' | 'deprecated'

/** A code that is withdrawn is not active, whatever else its code system says of it; one that is deprecated can still be used. */
export function outOfUse({ inactive, status }: ConceptStatus): OutOfUse | undefined {
  if (inactive || status === 'withdrawn') return 'inactive'
  return status === 'deprecated' ? 'deprecated' : undefined
}

/** Of a larger code system no codes are suggested. */
const MAX_CODES = 1_000

/** All codes of a code system of at most a thousand; none of a larger one. */
export function codesOfSystem(provider: CodeSystemProvider | undefined): readonly string[] {
  const size = provider?.index?.size ?? 0
  if (provider === undefined || size > MAX_CODES) return []
  return Array.from({ length: size }, (_, concept) => provider.code(concept))
}
