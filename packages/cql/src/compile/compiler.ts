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
  /** Time when the evaluation began, at its offset: `Now()`. Results for which it was read hold only at that time. */
  readonly now: Temporal
  /** Offset in minutes for times without one. */
  readonly offset: number
  /** Returns the resources that a retrieve finds. */
  readonly retrieve: (request: RetrieveRequest) => readonly FhirElement[]
  /**
   * Returns those resources of a retrieve that meet the condition of the query over it. `meets` is called only for resources whose result is not known yet.
   * Returns `undefined` if nothing is known of the retrieve. Absent if nothing is known of any retrieve.
   */
  readonly sift?: ((request: RetrieveRequest, meets: Meets) => readonly FhirElement[] | undefined) | undefined
  /** Values that depend on one resource alone, of resources that are kept; absent if none are kept. */
  readonly keptValues?: KeptValues | undefined
  /** Receives the messages of the operator `Message`. */
  readonly onMessage: (message: EvaluationMessage) => void
  /** Counts steps of work; throws when the limit is exceeded. */
  readonly spend: (steps: number) => void
  /** Parameters and terminology for libraries that were compiled with `places`; other libraries have them from their options. */
  readonly given?: Given | undefined
}

/**
 * The values that one evaluation gives to compiled libraries, the same for all of its subjects, each in the place that the compiler assigned to it. Compiled code
 * stores none of them, so evaluations with different parameters can share the code, even at the same time.
 */
export interface Given {
  readonly source: GivenSource
  /** Values of parameters; `undefined` if the default applies. */
  readonly parameters: (Value | undefined)[]
  /** Expressions that depend only on parameters, already evaluated. */
  readonly constants: Compute[]
  /** Membership tests of value sets and code systems. */
  readonly tests: CodeTest[]
  /** The last request of each retrieve, which is usually the same for every subject. */
  readonly requests: RetrieveRequest[]
  /** Number of `Places.announcements` that were already made. */
  announced: number
}

/** Sources of the values that an evaluation gives. */
export interface GivenSource {
  /** Returns the value of a parameter by its name and declared type (for an interval, its point type); `undefined` if its default applies. */
  readonly parameters?: ((name: string, type: string | undefined) => Value | undefined) | undefined
  /** Value sets and code systems. Without it, expressions that need them are refused. */
  readonly terminology?: LibraryTerminology | undefined
  /** Called for each retrieve before anything is evaluated, without codes and range. */
  readonly onRetrieve?: ((request: RetrieveRequest, node: ElmNode) => void) | undefined
}

/** The places that compiled code uses in an evaluation, with a function for each that makes the value an evaluation gives. */
export interface Places {
  /** Number of places for aliases, lets and operands. */
  slots: number
  /** Number of places for values of definitions. */
  memo: number
  readonly parameters: ((given: Given) => Value | undefined)[]
  readonly constants: ((given: Given) => Compute)[]
  readonly tests: ((given: Given) => CodeTest)[]
  readonly requests: ((given: Given) => RetrieveRequest)[]
  /** Calls of the terminology that are made once beforehand, because the code makes them again during evaluation. */
  readonly announcements: ((terminology: LibraryTerminology | undefined) => void)[]
}

/** Values that depend on one resource alone, kept with resources that are kept: all evaluations use them, whatever their period is. */
export interface KeptValues {
  /** Index of an expression's value among the values of a resource. */
  placeOf(expression: ElmNode): number
  /** Keeps a value if there is room for it. */
  keep(values: (Value | undefined)[], place: number, value: Value): void
}

/** Whether a resource meets a condition. */
export type Meets = (resource: FhirElement) => boolean

/** The request of a retrieve. */
export interface RetrieveRequest {
  /** The FHIR type. */
  readonly type: string
  /** The profile that the retrieve names; `undefined` if it is the base definition of the type. */
  readonly profile: string | undefined
  /** The test of the profile; absent if it is the base definition of the type, or if profiles are not known. */
  readonly ofProfile?: ProfileTest | undefined
  /** Whether all resources are retrieved, not only those of the subject (context Unfiltered). */
  readonly unfiltered: boolean
  /** The resource whose resources are retrieved instead of the subject's; null if that resource does not exist. */
  readonly context?: FhirElement | null
  /** Element whose codes are compared. */
  readonly codePath: string | undefined
  /** Returns the requested codes if the text of the library determines them; `undefined` otherwise. Called during evaluation. */
  readonly listedCodes?: (() => readonly Code[] | undefined) | undefined
  /** The date range, if it is a parameter of the request: resources outside of it are not found. */
  readonly listedRange?: Value | undefined
  /** Requirements on single elements, from the condition of the query over the retrieve. A resource that fails one does not contribute to the result. */
  readonly narrowing?: readonly Narrowing[] | undefined
  /** Whether `narrowing` is the whole condition, and every part of it has `holds`. */
  readonly isNarrowedWhole?: boolean | undefined
  /** Tests a coded element; `undefined` if the retrieve names no codes. */
  readonly codes: CodeTest | undefined
  readonly datePath: string | undefined
  readonly dateRange: Value
}

/** Tests whether resources match the profile of a retrieve. Called during evaluation. */
export interface ProfileTest {
  /** Elements of resources that the test reads; empty if it accepts all resources. Equal for equal tests. */
  readonly asked: () => readonly { readonly element: string }[]
  /** Returns the element that differs from what the profile fixes; `undefined` if the resource is accepted. */
  readonly missing: (resource: FhirElement) => string | undefined
}

/** A requirement on an element directly below a resource: to be one of some codes, or a date within a range. */
export interface Narrowing {
  readonly path: string
  readonly codes?: readonly string[]
  readonly dates?: NarrowingDates
  /** When the part of the condition from which it was made is known to hold; absent if that is not known. */
  readonly holds?: NarrowingProof | undefined
}

/** In milliseconds since 1970. Some part of the date or period must be at `from` or later, and some part at `to` or earlier. */
export interface NarrowingDates {
  readonly from?: number
  readonly to?: number
}

/**
 * A condition is known to hold for an element of one of these FHIR types that has one of the codes, or whose start and end lie within these limits
 * (milliseconds since 1970) by a margin of some days, because offsets and precisions may shift them.
 */
export interface NarrowingProof {
  readonly types: readonly string[]
  readonly startFrom?: number
  readonly startTo?: number
  readonly endFrom?: number
  readonly endTo?: number
}

/** The condition of a query, and the alias of the items that it tests. */
export interface Filter {
  readonly where: ElmNode
  readonly alias: string
}

/** Tests whether a code is one of the requested codes. */
export type CodeTest = (system: string | undefined, code: string) => boolean

/** The terminology that compiled libraries use. Its methods are called before anything is evaluated, and the functions that they return during evaluation. */
export interface LibraryTerminology {
  /** Returns the membership test of a value set or code system. */
  membership(vocabulary: Vocabulary): CodeTest
  /** Returns a function that lists the codes of a value set. */
  expansion(vocabulary: Vocabulary): () => readonly Code[]
  /** Returns the test of a profile that retrieves name. Default: all resources of its type are accepted. */
  profile?(canonical: string): ProfileTest
  /** Returns a test whether a code equals or subsumes another in one of these code systems. */
  subsumption(systems: readonly Vocabulary[]): (ancestor: Code, descendant: Code) => boolean
}

/** A message of the operator `Message`. */
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
  /** Slot of the item while sorting by an expression, where names are its elements. */
  readonly item?: number | undefined
  /** Condition of the query whose source is being compiled. */
  readonly filter?: Filter | undefined
}

/** The parts of the compiler that compilers of node types use. */
export interface Compiler {
  /** Compiles a node. @throws {OperationError} for unknown nodes. */
  compile(node: ElmNode, scope: Scope): Compute
  /** Allocates a slot for a name. */
  slot(): number
  /** Places in evaluations that the compiled code uses. */
  readonly places: Places
  /** The values that an evaluation gives. */
  readonly given: (evaluation: Evaluation) => Given
  /** Number of nodes of the current definition or function that were compiled so far. */
  nodes(): number
  readonly convert: UnitConversion
  /** The FHIR types. */
  readonly model: TypeModel
  /** Offset in minutes for times without one. */
  readonly offset: number
  /** Returns a reader of the value of an expression that is the same for all subjects of an evaluation; `undefined` for any other expression. */
  readonly constant: (node: ElmNode) => ((given: Given) => Value | undefined) | undefined
  /** Whether the current definition is in the context Unfiltered. */
  isUnfiltered(): boolean
  /** Whether nodes are traced, so that each must be evaluated as it is written. */
  readonly isLookedOn: boolean
  /** Resolves references to definitions of the library or of an included one. */
  readonly references: References
}

/** Resolves the references of ELM nodes to definitions of libraries. */
export interface References {
  expression(node: ElmNode): Compute
  parameter(node: ElmNode): Compute
  /** Returns a reader of the value that an evaluation gives to a parameter; `undefined` if its default applies. */
  parameterIn(node: ElmNode): (given: Given) => Value | undefined
  invoke(node: ElmNode, operands: readonly Compute[]): Compute
  /** Whether a call is of a function of FHIRHelpers. */
  isHelper(node: ElmNode): boolean
  /** Whether a reference is to the subject of the context. */
  isSubject(node: ElmNode): boolean
  code(node: ElmNode): Value
  /** The code of an inline selector, which refers to its system. */
  inlineCode(node: ElmNode): Code
  concept(node: ElmNode): Value
  /** The value set or code system that a reference names. */
  vocabulary(node: ElmNode, kind: Vocabulary['kind']): Vocabulary
  /** The code systems that the library declares. */
  systems(): readonly Vocabulary[]
}

/** Called for every compiled node; may return another function with the same values. Explanations and coverage use it to observe evaluations. */
export type NodeTrace = (compute: Compute, node: ElmNode, scope: Scope, library: string) => Compute

/** Compiles nodes of one type. */
export type NodeCompiler = (node: ElmNode, scope: Scope, compiler: Compiler) => Compute

/** Compilers by node type. */
export type NodeCompilers = Readonly<Record<string, NodeCompiler>>
