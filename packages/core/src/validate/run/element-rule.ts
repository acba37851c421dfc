import type { IssueSeverity } from '../../errors/index.js'
import type { TypeDefinition } from '../../fhirpath/index.js'
import type { JsonObject } from '../../json/index.js'
import type { DiscriminatorStep } from '../profile/discriminator-path.js'

/** What the urls of FHIR's own definitions begin with. */
export { TYPE_URL } from '../../text/index.js'

/** What one ElementDefinition demands, in the form in which the walk uses it. */
export interface ElementRule {
  /** Element id, or the path when it has none; names the rule in texts. */
  readonly id: string
  readonly path: string
  /** Canonical of the StructureDefinition, with its version when it has one. */
  readonly profile: string
  /** True when the StructureDefinition defines the type, false for profiles. */
  readonly isBase: boolean
  /** True for a rule of a snapshot, where a slice repeats all that the sliced element demands. */
  readonly isComplete: boolean
  /** Canonical without version of the profile on which a differential builds; its slices of the same name are the same slices. */
  readonly base: string | undefined
  /** Last part of the path without `[x]`. */
  readonly name: string
  readonly sliceName: string | undefined
  /** True for the rule of a choice element such as `value[x]`, whose slices are its types. */
  readonly isChoice: boolean
  readonly min: number
  /** `Infinity` for `*`. */
  readonly max: number
  readonly types: readonly TypeRule[]
  readonly value: ValueRule
  readonly bindings: readonly BindingRule[]
  readonly constraints: readonly ConstraintRule[]
  /** By name without `[x]`. Empty when the type alone says what is inside. */
  readonly children: ReadonlyMap<string, ElementRule>
  /** The children and their slices that must be there at least once. */
  readonly required: readonly ElementRule[]
  /** Names of the rules that have something to check here, in the order of `RuleBook.demands`. None: a node need not be visited for it. */
  readonly demands: readonly string[]
  readonly slicing: SlicingRule | undefined
  readonly slices: readonly ElementRule[]
}

/** Begins the codes of FHIRPath's own types, which definitions use for primitive types of FHIR. */
export const SYSTEM_TYPES = 'http://hl7.org/fhirpath/System.'

/** One `type` of an ElementDefinition. */
export interface TypeRule {
  readonly code: string
  readonly profiles: readonly string[]
  readonly targetProfiles: readonly string[]
  readonly aggregation: readonly string[]
}

/** Demands on the value itself. */
export interface ValueRule {
  readonly fixed?: unknown
  readonly pattern?: unknown
  readonly min?: LimitRule
  readonly max?: LimitRule
  readonly maxLength?: number
  readonly minLength?: number
  readonly maxDecimalPlaces?: number
  /** Octets of an Attachment or of base64Binary. */
  readonly maxSize?: number
  /** The form of a primitive value. */
  readonly regex?: string
  /** The units that a Quantity may have, as Codings. */
  readonly units?: readonly JsonObject[]
  /** Canonicals of the extensions that can replace the value, which is otherwise required. */
  readonly alternatives?: readonly string[]
  /** What languages the sections of a narrative must be in: `_no`, `_yes`, `_resource` or codes of languages. */
  readonly sections?: readonly string[]
  /** How severe it is when a part of a narrative does not state its source. */
  readonly sourceControl?: 'error' | 'warning' | 'information'
}

/** A `minValue[x]` or `maxValue[x]` with the name of its type. For a date or time, a duration counts from now: back to the minimum, on to the maximum. */
export interface LimitRule {
  readonly type: string
  readonly value: unknown
}

/** A binding, also the one that the extension `maxValueSet` adds. */
export interface BindingRule {
  readonly strength: 'required' | 'extensible' | 'preferred' | 'example'
  /** Canonical of the value set; `INHERITED` for that of the base. */
  readonly valueSet: string
  /** True for the maximum of a binding that demands no code: a concept may be only text. */
  readonly takesText?: boolean
}

/** Stands for the value set of the base, in profiles that change only how strongly an element is bound to it. */
export const INHERITED = ''

/** An invariant. */
export interface ConstraintRule {
  readonly key: string
  readonly severity: IssueSeverity
  readonly human: string
  readonly expression: string
  /** True for advice, which is checked only when that is asked for. */
  readonly isBestPractice: boolean
  /** Spares the evaluation of the expression for most values. */
  readonly onJson: JsonTest
}

/**
 * Makes the test whether a JSON value of a type meets an expression: once for a type, at the first value. The test gives `undefined` where only the
 * evaluation of the expression can say.
 *
 * @param compile Throws an `OperationError` for what is not FHIRPath.
 */
export type JsonTest = (type: TypeDefinition, compile: (expression: string) => unknown) => (value: JsonObject) => boolean | undefined

/** How a list is sliced. */
export interface SlicingRule {
  readonly discriminators: readonly Discriminator[]
  readonly rules: 'open' | 'closed' | 'openAtEnd'
  readonly ordered: boolean
}

/** @see https://hl7.org/fhir/R4/profiling.html#discriminator */
export interface Discriminator {
  readonly type: 'value' | 'pattern' | 'exists' | 'type' | 'profile' | 'position'
  readonly path: string
  /** What the path says. */
  readonly steps: readonly DiscriminatorStep[]
}

/**
 * A compiled StructureDefinition. One with a snapshot has all rules in its tree. One that has only a differential has the rules that it adds;
 * those that it inherits are in the tree of `base`. Rules add up, so the walk applies both: no snapshot need be made.
 */
export interface Profile {
  /** Canonical with version when it has one. */
  readonly canonical: string
  readonly url: string
  /** The type that it constrains or defines. */
  readonly type: string
  readonly isBase: boolean
  readonly root: ElementRule
  /** Every rule by its element id. */
  readonly elements: ReadonlyMap<string, ElementRule>
  /** Canonical of the profile whose rules hold too; absent with a snapshot. */
  readonly base: string | undefined
  /** Why its differential cannot be applied to its type, as the end of a sentence. */
  readonly obstacle?: string
  /** True for a definition with neither snapshot nor differential, which cannot be applied. */
  readonly isEmpty?: true
  /** Canonicals of the profiles that it imposes on all that conforms to it. */
  readonly imposes: readonly string[]
  /** Where an extension may be used; absent for all other profiles. */
  readonly extension: ExtensionRule | undefined
}

/** What the definition of an extension says about its use. */
export interface ExtensionRule {
  readonly isModifier: boolean
  /** One of them must hold; an extension without any is allowed nowhere. */
  readonly contexts: readonly ExtensionContext[]
  /** FHIRPath that must all hold on the element that has the extension. */
  readonly invariants: readonly string[]
  /** The releases that it can be used with. */
  readonly releases?: ReleaseRange
  /** Why the extension should not be used any more, with the reason when one is given; absent while it may be. */
  readonly outdated?: string
}

/** @see https://hl7.org/fhir/R4/defining-extensions.html#context */
export interface ExtensionContext {
  readonly type: 'element' | 'extension' | 'fhirpath'
  readonly expression: string
  /** The releases that it holds for; absent when it holds for all. */
  readonly releases?: ReleaseRange
}

/** Releases from one to another, by numbers such as `4.0`; an end that is absent is open. */
export interface ReleaseRange {
  readonly start?: string
  readonly end?: string
}

/** A rule and all that are inside it, each once: content references lead back to rules around them. */
export function rulesWithin<Rule extends { readonly children: ReadonlyMap<string, Rule> }>(rule: Rule): readonly Rule[] {
  const found = new Set([rule])
  for (const one of found) for (const child of one.children.values()) found.add(child)
  return [...found]
}
