import type { TypeModel } from 'fhir-ops/fhirpath'
import type { ElmNode } from '../elm/node.js'
import type { UnitConversion } from '../values/units.js'
import type { Temporal } from '../values/temporal.js'
import type { Code, FhirElement, Value, Vocabulary } from '../values/value.js'

/** The state of one evaluation, created for each subject, except for `slots`. */
export interface Evaluation {
  /** Values of aliases, lets and operands, by the slot that the compiler gave them. */
  readonly slots: Value[]
  /** Values of definitions that were already evaluated for this subject, by their slot. */
  readonly memo: (Value | undefined)[]
  /** The subject of the context; null in the context Unfiltered. */
  readonly subject: FhirElement | null
  /** When the evaluation began, at its offset: `Now()`. Results that it was read for hold at that time only. */
  readonly now: Temporal
  /** Offset in minutes of times that have none. */
  readonly offset: number
  /** The resources that a retrieve finds. */
  readonly retrieve: (request: RetrieveRequest) => readonly FhirElement[]
  /**
   * Of what a retrieve finds, what meets the condition of the query over it, which is asked where that is not known of a resource; `undefined` where nothing is
   * known. Absent where no retrieve is known.
   */
  readonly sift?: ((request: RetrieveRequest, meets: Meets) => readonly FhirElement[] | undefined) | undefined
  /** Values that follow from one resource alone, of resources that are kept; absent where none are. */
  readonly keptValues?: KeptValues | undefined
  /** Receives what `Message` says. */
  readonly onMessage: (message: EvaluationMessage) => void
  /** Counts work; throws when the limit is reached. */
  readonly spend: (steps: number) => void
}

/** Values that follow from one resource alone, kept with resources that are: for all evaluations that look at them, whatever the period is. */
export interface KeptValues {
  /** Where the values of an expression are among those of a resource. */
  placeOf(expression: ElmNode): number
  /** Keeps a value where there is room for it. */
  keep(values: (Value | undefined)[], place: number, value: Value): void
}

/** Whether a resource meets a condition. */
export type Meets = (resource: FhirElement) => boolean

/** What a retrieve asks for. */
export interface RetrieveRequest {
  /** The FHIR type. */
  readonly type: string
  /** The profile that the retrieve names; undefined when it is that of the type itself. */
  readonly profile: string | undefined
  /** What the profile demands; absent where it is that of the type, and where profiles are not known. */
  readonly ofProfile?: ProfileTest | undefined
  /** Whether all resources are meant, not only those of the subject (context Unfiltered). */
  readonly unfiltered: boolean
  /** The resource whose resources are meant, instead of the subject's; null when there is none. */
  readonly context?: FhirElement | null
  /** Element whose codes are compared. */
  readonly codePath: string | undefined
  /** The codes that are asked for, where the text of the library determines them; `undefined` for all others. Called while evaluating. */
  readonly listedCodes?: (() => readonly Code[] | undefined) | undefined
  /** The date range, where it is a parameter of the request: what is outside is not found. */
  readonly listedRange?: Value | undefined
  /** What the condition of the query over it says of single elements: of what does not meet all of it, nothing comes. */
  readonly narrowing?: readonly Narrowing[] | undefined
  /** Whether that is the whole condition, and every part of it says when it is known to hold. */
  readonly isNarrowedWhole?: boolean | undefined
  /** Tests a coded element; undefined when no codes are asked for. */
  readonly codes: CodeTest | undefined
  readonly datePath: string | undefined
  readonly dateRange: Value
}

/** What a profile demands of the resources that a retrieve by it finds. Asked while evaluating. */
export interface ProfileTest {
  /** What it looks at, by the elements of resources; none where it takes all. Equal for tests that are the same. */
  readonly asked: () => readonly { readonly element: string }[]
  /** The element that is not as the profile fixes it; `undefined` for a resource that is taken. */
  readonly missing: (resource: FhirElement) => string | undefined
}

/** What an element right below a resource must be: one of some codes, or a date. */
export interface Narrowing {
  readonly path: string
  readonly codes?: readonly string[]
  readonly dates?: NarrowingDates
  /** When what it was made of is known to hold; absent where that is not known. */
  readonly holds?: NarrowingProof | undefined
}

/** Milliseconds since 1970: some part of the date or period must be at `from` or later, some part at `to` or earlier. */
export interface NarrowingDates {
  readonly from?: number
  readonly to?: number
}

/**
 * A condition holds for an element of one of these FHIR types that has one of the codes, or whose start and end are within these moments (milliseconds since 1970) by
 * some days, as different offsets and precisions may shift them.
 */
export interface NarrowingProof {
  readonly types: readonly string[]
  readonly startFrom?: number
  readonly startTo?: number
  readonly endFrom?: number
  readonly endTo?: number
}

/** The condition of a query, and the alias whose items it is asked of. */
export interface Filter {
  readonly where: ElmNode
  readonly alias: string
}

/** Whether a code is one of those asked for. */
export type CodeTest = (system: string | undefined, code: string) => boolean

/** Terminology as compiled libraries use it. Members are called while compiling, and what they give while evaluating. */
export interface LibraryTerminology {
  /** Membership test of a value set or code system. */
  membership(vocabulary: Vocabulary): CodeTest
  /** The codes of a value set. */
  expansion(vocabulary: Vocabulary): () => readonly Code[]
  /** The test of a profile that retrieves name. Default: all resources of its type are taken. */
  profile?(canonical: string): ProfileTest
  /** Whether a code is another, or above it, in one of these code systems. */
  subsumption(systems: readonly Vocabulary[]): (ancestor: Code, descendant: Code) => boolean
}

/** What `Message` said. */
export interface EvaluationMessage {
  readonly severity: string
  readonly code: string | null
  readonly message: string | null
}

/** A compiled node. */
export type Compute = (evaluation: Evaluation) => Value

/** Slots of the names that are visible at a node. */
export interface Scope {
  readonly aliases: ReadonlyMap<string, number>
  readonly operands: ReadonlyMap<string, number>
  /** Slots of `$this`, `$index` and `$total`. */
  readonly current?: number | undefined
  readonly index?: number | undefined
  readonly total?: number | undefined
  /** Sorting by an expression: names are elements of the item in this slot. */
  readonly item?: number | undefined
  /** Compiling the source of a query: its condition. */
  readonly filter?: Filter | undefined
}

/** What the compilers of node types need of the whole. */
export interface Compiler {
  /** Compiles a node. @throws {OperationError} for nodes that are not understood. */
  compile(node: ElmNode, scope: Scope): Compute
  /** A new slot for a name. */
  slot(): number
  /** How many nodes of the present definition or function were compiled so far. */
  nodes(): number
  readonly convert: UnitConversion
  /** The FHIR types. */
  readonly model: TypeModel
  /** Offset in minutes of times that have none. */
  readonly offset: number
  /** Whether what is compiled is in the context Unfiltered. */
  isUnfiltered(): boolean
  /** Whether somebody looks on at nodes, so that each must be evaluated as it is written. */
  readonly isLookedOn: boolean
  /** Learns of each retrieve that is compiled. */
  onRetrieve(request: RetrieveRequest, node: ElmNode): void
  /** Resolves a reference to what the library, or an included one, defines. */
  readonly references: References
}

/** What libraries define, by the names that ELM uses. */
export interface References {
  expression(node: ElmNode): Compute
  parameter(node: ElmNode): Compute
  /** The value that the evaluation gives to a parameter; `undefined` for one that has its default. */
  given(node: ElmNode): Value | undefined
  invoke(node: ElmNode, operands: readonly Compute[]): Compute
  /** Whether a call is one of FHIRHelpers. */
  isHelper(node: ElmNode): boolean
  /** Whether a reference is to the subject of the context. */
  isSubject(node: ElmNode): boolean
  code(node: ElmNode): Value
  /** A code that is written where it is used, with a reference to its system. */
  inlineCode(node: ElmNode): Code
  concept(node: ElmNode): Value
  /** The value set or code system that a reference names. */
  vocabulary(node: ElmNode, kind: Vocabulary['kind']): Vocabulary
  /** The code systems that the library declares. */
  systems(): readonly Vocabulary[]
  /** What a profile demands; `undefined` where profiles are not known. */
  profile(canonical: string): ProfileTest | undefined
  /** @throws {OperationError} `not-supported` when there is none. */
  terminology(node: ElmNode): LibraryTerminology
}

/** Sees every node that is compiled, and may give another function in its place that has the same values: how explanations and coverage look on. */
export type NodeTrace = (compute: Compute, node: ElmNode, scope: Scope, library: string) => Compute

/** Compiles nodes of one type. */
export type NodeCompiler = (node: ElmNode, scope: Scope, compiler: Compiler) => Compute

/** Compilers by node type. */
export type NodeCompilers = Readonly<Record<string, NodeCompiler>>
