import type { ConceptStatus, Filter } from '../../code-system/index.js'
import type { RequestDefinitions } from '../../content/index.js'
import type { OtherRelease } from '../../cross-version/index.js'
import type { CompiledPath, Pending } from '../../fhirpath/index.js'
import type { JsonObject, JsonSource } from '../../json/index.js'
import type { LinearRegex } from '../../regex/index.js'
import type { CodeSystemProvider, ConceptText, StatusNote, SystemFamily } from '../../terminology/index.js'
import type { Profile } from './element-rule.js'

/** Definitions and stored resources that the walk needs. `PENDING` stands for an answer that must be fetched before the next walk. */
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
  /** The regular expression of a definition, compiled once per cache; `undefined` for one that cannot be used and therefore restricts nothing. */
  readonly pattern: (pattern: string) => LinearRegex | undefined
  /** A release other than R4 by its number, such as `5.0`; `undefined` when its elements are not known. */
  readonly otherRelease: (release: string) => OtherRelease | undefined
  /** Fetches the pending answers; `undefined` when there are none. */
  readonly settle: () => Promise<void> | undefined
}

/** Definitions that rules read as JSON. */
export interface ResourceDefinitions {
  /** The resource of a type with this canonical, with or without version; `undefined` when there is none. */
  readonly definition: (type: string, canonical: string) => JsonObject | undefined | Pending
  /** All StructureMaps; `undefined` where definitions cannot be listed. */
  readonly maps: () => readonly JsonObject[] | undefined | Pending
  /** The resource types of the definitions with this canonical. */
  readonly kinds: (canonical: string) => readonly string[] | Pending
  /** Canonicals of the profiles that ImplementationGuides apply to all resources of a type (`global`). */
  readonly globalProfiles: (type: string) => readonly string[] | Pending
  /** The urls of the code systems that have an OID, `urn:oid:...`, as an identifier. */
  readonly systemsWithOid: (oid: string) => readonly string[] | Pending
  /** Whether any StructureDefinition is derived from the one with this url. */
  readonly isBase: (url: string) => boolean | Pending
}

/** Stored resources that references lead to. */
export interface StoredResources {
  /** The stored resource of a type with an id; `undefined` when there is none or the caller may not read it. */
  readonly stored: (type: string, id: string) => JsonSource | undefined | Pending
}

/** Value sets and code systems. */
export interface CodeDefinitions {
  /** A value set by canonical; `undefined` when there is none that can be used. */
  readonly valueSet: (canonical: string) => CodeList | undefined | Pending
  /** Like `valueSet`, for the value sets of FHIR's own types, which are looked up only once. */
  readonly baseValueSet: (canonical: string) => CodeList | undefined | Pending
  /** A value set that is contained in another resource. */
  readonly givenValueSet: (resource: JsonObject) => CodeList | undefined | Pending
  /** All known versions of a code system. The version that the canonical names, or else the newest, is ready for use. */
  readonly codeSystem: (canonical: string) => SystemFamily | Pending
  /** A readable problem with the value of a filter, as far as the code system of this url can detect it without any release. */
  readonly filterProblem: (url: string, filter: Filter) => string | undefined
}

/** A code of a resource. Without system it belongs to one of the value set's code systems. */
export interface GivenCode {
  readonly system?: string | undefined
  readonly version?: string | undefined
  readonly code: string
}

/** Whether a code is in a value set; `unknown` when that needs content that is not available. */
export type Verdict = 'in' | 'out' | 'unknown'

/**
 * Whether a code without version is in a value set. `fine`: it is, or may be. `out`: it is not. `questionable`: it needs a closer check, for example
 * because it is outdated or belongs to several code systems.
 */
export type CodeFit = 'fine' | 'out' | 'questionable'

/** A definition that a value set refers to and that could not be found. */
export interface Lacking {
  readonly kind: 'value set' | 'supplement'
  readonly canonical: string
}

/** A display, with its language where that limits what it is a display in. */
export type StatedText = Pick<ConceptText, 'value' | 'language'>

/** A value set whose codes can be looked up. */
export interface CodeList {
  /** `url|version`. */
  readonly canonical: string
  readonly title: string
  /** The message that the value set imports itself, with the path; absent when it does not. */
  readonly circle?: string
  /** Why the value set cannot be used, or leaves some codes undecided. Absent when neither is the case. */
  readonly problem?: string | undefined
  readonly has: (code: GivenCode) => Verdict
  /** Whether it lists this code one by one, in any code system, so that a code without system can mean it. */
  readonly lists: (code: string) => boolean
  /** Whether all its codes come from one list or one code system. */
  readonly isOneList: boolean
  /** A quick answer that suffices for most codes. A code without system belongs to one of the value set's code systems. */
  readonly fit: (code: string, system: string | undefined) => CodeFit
  /** Notes on the status of the value set and of what it uses for a code: draft, experimental and the like. */
  readonly notes: (code: GivenCode) => readonly StatusNote[]
  /** The versions of a code system that it takes codes from, where they have one, and whether it states all of them itself. */
  readonly versions: (system: string) => { readonly known: readonly string[]; readonly areStated: boolean }
  /** The versions of a code system, or of any when undefined, that it states and that could not be found. Codes may belong to them. */
  readonly missingVersions: (system: string | undefined) => readonly string[]
  /** Missing definitions: supplements that it requires and, if the code may be in them, value sets that it imports. */
  readonly lacking: (code: GivenCode) => readonly Lacking[]
  /** Displays that it states for a code that it lists one by one, and those of the supplements that it requires. */
  readonly displays: (code: GivenCode) => readonly StatedText[]
  /** The code systems in which it contains a code; empty unless it takes codes from several. */
  readonly systemsOf: (code: string) => readonly string[]
  /** `deprecated` or `withdrawn` for a code that it lists and marks as such. */
  readonly outdated: (code: GivenCode) => string | undefined
  /** Why a code without system should not be used, according to the code system from which the value set takes it. */
  readonly outOfUse: (code: string) => OutOfUse | undefined
  /** Whether it accepts only active codes and this one is inactive. */
  readonly isBarred: (code: GivenCode) => boolean
  /** Its codes, as far as they are listed one by one or come from a code system of at most 1,000 codes. */
  readonly members: () => readonly GivenCode[]
  /** Codes that may be meant by a wrong one, the nearest first; all codes of a short list when none is near. */
  readonly suggestions: (code: GivenCode) => readonly string[]
  /** False once one of its code systems holds data of a single request; other requests need a new list then. */
  readonly lasts: () => boolean
  /** Whether definitions of a request with these urls would replace any that it depends on. */
  readonly restsOn: (fromRequest: RequestDefinitions) => boolean
}

/** Why a code should not be used any more. */
export type OutOfUse = 'inactive' | 'deprecated'

/** A withdrawn code is inactive, whatever else its code system states; a deprecated one can still be used. */
export function outOfUse({ inactive, status }: ConceptStatus): OutOfUse | undefined {
  if (inactive || status === 'withdrawn') return 'inactive'
  return status === 'deprecated' ? 'deprecated' : undefined
}

/** No codes are suggested from larger code systems. */
const MAX_CODES = 1_000

/** All codes of a code system of at most a thousand; none of a larger one. */
export function codesOfSystem(provider: CodeSystemProvider | undefined): readonly string[] {
  const size = provider?.index?.size ?? 0
  if (provider === undefined || size > MAX_CODES) return []
  return Array.from({ length: size }, (_, concept) => provider.code(concept))
}
