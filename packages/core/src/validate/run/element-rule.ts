import type { IssueSeverity } from '../../errors/index.js'
import type { TypeDefinition } from '../../fhirpath/index.js'
import type { JsonObject } from '../../json/index.js'

/** The beginning of the urls of FHIR's own definitions. */
export { TYPE_URL } from '../../text/index.js'

/** The requirements of one ElementDefinition, compiled for the walk. */
export interface ElementRule {
  /** Element id, or the path when it has none; identifies the rule in messages. */
  readonly id: string
  readonly path: string
  /** Canonical of the StructureDefinition, with its version when it has one. */
  readonly profile: string
  /** True when the StructureDefinition defines the type, false for profiles. */
  readonly isBase: boolean
  /** True for a rule of a snapshot, where a slice repeats everything that the sliced element requires. */
  readonly isComplete: boolean
  /** Canonical of the profile that a differential builds on; `undefined` for a snapshot. */
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
  /** Whether the profile marks the element as `mustSupport`; `undefined` if the StructureDefinition marks no element. */
  readonly isSupported: boolean | undefined
  readonly bindings: readonly BindingRule[]
  readonly constraints: readonly ConstraintRule[]
  /** By name without `[x]`. Empty when only the type defines the content. */
  readonly children: ReadonlyMap<string, ElementRule>
  /** Children, and slices of children, that must occur at least once. */
  readonly required: readonly ElementRule[]
  /** Names of the rules that have something to check here, in the order of `RuleBook.demands`. If empty, no node needs a visit for it. */
  readonly demands: readonly string[]
  readonly slicing: SlicingRule | undefined
  readonly slices: readonly ElementRule[]
}

/** Prefix of the codes of FHIRPath's own types, which definitions use for primitive types of FHIR. */
export const SYSTEM_TYPES = 'http://hl7.org/fhirpath/System.'

/** One `type` of an ElementDefinition. */
export interface TypeRule {
  readonly code: string
  readonly profiles: readonly string[]
  readonly targetProfiles: readonly string[]
  readonly aggregation: readonly string[]
}

/** Requirements on the value itself. */
export interface ValueRule {
  readonly fixed?: unknown
  readonly pattern?: unknown
  readonly min?: LimitRule
  readonly max?: LimitRule
  readonly maxLength?: number
  readonly minLength?: number
  readonly maxDecimalPlaces?: number
  /** In bytes, for an Attachment or base64Binary. */
  readonly maxSize?: number
  /** Regular expression that a primitive value must match. */
  readonly regex?: string
  /** The units that a Quantity may have, as Codings. */
  readonly units?: readonly JsonObject[]
  /** Canonicals of the extensions that can replace the value, which is otherwise required. */
  readonly alternatives?: readonly string[]
  /** Required languages of a narrative's sections: `_no`, `_yes`, `_resource` or language codes. */
  readonly sections?: readonly string[]
  /** Severity when a part of a narrative does not state its source. */
  readonly sourceControl?: 'error' | 'warning' | 'information'
}

/**
 * A `minValue[x]` or `maxValue[x]` with the name of its type. For a date or time, a duration is relative to now: before now for the minimum, after now for
 * the maximum.
 */
export interface LimitRule {
  readonly type: string
  readonly value: unknown
}

/** A binding, including one that the extension `maxValueSet` adds. */
export interface BindingRule {
  readonly strength: 'required' | 'extensible' | 'preferred' | 'example'
  /** Canonical of the value set; `INHERITED` for that of the base. */
  readonly valueSet: string
  /** True for the maximum of a binding that requires no code: a concept may consist of text only. */
  readonly takesText?: boolean
  /** True for a binding that applies besides the binding itself, and that none of what is derived replaces. */
  readonly isAdditional?: boolean
}

/** Stands for the value set of the base, in profiles that change only the binding strength. */
export const INHERITED = ''

/** An invariant. */
export interface ConstraintRule {
  readonly key: string
  readonly severity: IssueSeverity
  readonly human: string
  readonly expression: string
  /** True for a best practice, which is checked only on request. */
  readonly isBestPractice: boolean
  /** Avoids evaluating the expression for most values. */
  readonly onJson: JsonTest
}

/**
 * Creates the test whether a JSON value of a type satisfies an expression, once per type, at the first value. The test returns `undefined` when only
 * evaluating the expression can decide.
 *
 * @param compile Throws an `OperationError` for text that is not FHIRPath.
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
  /** The parsed path. */
  readonly steps: readonly DiscriminatorStep[]
}

/**
 * A compiled StructureDefinition. With a snapshot, its tree has all rules. With only a differential, its tree has the rules that this adds, and the
 * inherited ones are in the tree of `base`. Rules are cumulative, so the walk applies both and no snapshot has to be generated.
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
  /** Canonical of the profile whose rules apply as well; absent with a snapshot. */
  readonly base: string | undefined
  /** Why its differential cannot be applied to its type, as the end of a sentence. */
  readonly obstacle?: string
  /** True for a definition with neither snapshot nor differential, which cannot be applied. */
  readonly isEmpty?: true
  /** Canonicals of the profiles that it imposes on everything that conforms to it. */
  readonly imposes: readonly string[]
  /** Where an extension may be used; absent for all other profiles. */
  readonly extension: ExtensionRule | undefined
}

/** The rules for the use of an extension, from its definition. */
export interface ExtensionRule {
  readonly isModifier: boolean
  /** One of them must hold; an extension without any is allowed nowhere. */
  readonly contexts: readonly ExtensionContext[]
  /** FHIRPath expressions that must all be true for the element that has the extension. */
  readonly invariants: readonly string[]
  /** The releases that it can be used with. */
  readonly releases?: ReleaseRange
  /** The status that advises against using the extension, such as `deprecated`, with the reason if one is stated; absent otherwise. */
  readonly outdated?: string
}

/** @see https://hl7.org/fhir/R4/defining-extensions.html#context */
export interface ExtensionContext {
  readonly type: 'element' | 'extension' | 'fhirpath'
  readonly expression: string
  /** The releases that it holds for; absent when it holds for all. */
  readonly releases?: ReleaseRange
}

/** A range of releases, by numbers such as `4.0`; a missing end is open. */
export interface ReleaseRange {
  readonly start?: string
  readonly end?: string
}

/** Returns a rule and all rules below it, each once, although content references lead back to rules around them. */
export function rulesWithin<Rule extends { readonly children: ReadonlyMap<string, Rule> }>(rule: Rule): readonly Rule[] {
  const found = new Set([rule])
  for (const one of found) for (const child of one.children.values()) found.add(child)
  return [...found]
}

/** One step of a discriminator's path. */
export type DiscriminatorStep =
  | { readonly kind: 'child'; readonly name: string }
  | { readonly kind: 'extension'; readonly url: string }
  | { readonly kind: 'resolve' }
  | { readonly kind: 'type'; readonly type: string }

/** How each kind of step begins, and what it means; `undefined` for `$this`, which stays where it is. */
const STEPS: readonly (readonly [RegExp, (argument: string) => DiscriminatorStep | undefined])[] = [
  [/^extension\(['"]([^'"]*)['"]\)/, (url) => ({ kind: 'extension', url })],
  [/^(?:ofType|as)\((?:FHIR\.)?([A-Za-z0-9]+)\)/, (type) => ({ kind: 'type', type })],
  [/^resolve\(\)/, () => ({ kind: 'resolve' })],
  [/^\$this/, () => undefined],
  [/^([A-Za-z][A-Za-z0-9]*)(?:\[x\])?/, (name) => ({ kind: 'child', name })],
]

/** Parses the restricted FHIRPath of a discriminator. The path ends at the first step that is not understood. */
export function discriminatorSteps(path: string): readonly DiscriminatorStep[] {
  const steps: DiscriminatorStep[] = []
  let rest = path
  for (let next = stepAt(rest); next !== undefined; next = stepAt(rest)) {
    if (next.step !== undefined) steps.push(next.step)
    rest = rest.slice(next.length).replace(/^\./, '')
  }
  return steps
}

function stepAt(text: string): { readonly step: DiscriminatorStep | undefined; readonly length: number } | undefined {
  for (const [pattern, make] of STEPS) {
    const match = pattern.exec(text)
    if (match !== null) return { step: make(match[1] ?? ''), length: match[0].length }
  }
  return undefined
}
