import type {
  BestPractice,
  MustSupportReport,
  QuestionnaireMode,
  ReferenceCheck,
  Refusal,
  ResourceIdRule,
  RuleSeverity,
  VitalSigns,
} from '../../context/index.js'
import type { ElementSlot, FhirNode, TypeDefinition, TypeModel, UnitConversion } from '../../fhirpath/index.js'
import type { Definitions } from './definitions.js'
import type { Discriminator, ElementRule, SlicingRule } from './element-rule.js'
import type { FindingSink, FindingDefinition } from './finding.js'
import type { EntryProfile, Indexes, Seen } from './indexes.js'
import type { PrimitiveCheck } from './primitive-problem.js'
import type { Scheduler, Task } from './scheduler.js'

/** One walk over a resource: its input, its rules, and the sink for its findings. */
export interface Run {
  readonly model: TypeModel
  /** The validated resource. */
  readonly root: FhirNode
  readonly now: Date
  /** Compares quantities of different units. */
  readonly convertUnit: UnitConversion
  /** A number as it was written, when JavaScript would write it differently. */
  readonly numberText: (parent: object, key: string | number) => string | undefined
  readonly policy: RunPolicy
  /** True when the call asks for profiles; without them, it asks for the type of the resource. */
  readonly isAsked: boolean
  /** Profiles for resources in entries of Bundles. */
  readonly entryProfiles: readonly EntryProfile[]
  /** False when only the rules of profiles are applied, because another walk over the same nodes applies those of FHIR's own types. */
  readonly checksTypes: boolean
  readonly rules: RuleBook
  readonly definitions: Definitions
  readonly findings: FindingSink
  readonly scheduler: Scheduler
  readonly indexes: Indexes
  readonly seen: Seen
  /** The plan of the rules for each type and place, made once. */
  readonly plans: Plans
  readonly quickCheck: QuickCheckState
  /** Finds the parts that the walk can skip with `checks: 'structure'`. */
  readonly structureCheck: StructureCheck
  /** Checks a node and all below it. A member, so that rules can walk into other nodes without importing the walk. */
  readonly visit: (run: Run, node: FhirNode, rules: readonly ElementRule[]) => void
}

/** The options of a validation, from the caller and the host. */
export interface RunPolicy {
  readonly checks: Checks
  /** Severity of best practices. */
  readonly bestPractice: BestPractice
  /** Things that FHIR allows but that are reported as errors. */
  readonly refuses: ReadonlySet<Refusal>
  /** Whether references to stored resources are followed. */
  readonly validateReferences: ReferenceCheck
  /** Whether the type in an absolute URL of a reference is taken for the type of its target. */
  readonly assumeValidRestReferences: boolean
  readonly allowComments: boolean
  readonly questionnaire: QuestionnaireMode
  /** Report codes outside of an extensible value set. */
  readonly extensibleBindingWarnings: boolean
  /** Severity of displays that are none of the code's. */
  readonly wrongDisplays: 'error' | 'warning'
  readonly enforceAggregationOutsideBundles: boolean
  /** Whether definitions are checked for what published ones need. */
  readonly forPublication: boolean
  readonly validateContained: boolean
  /** Which Observations must conform to the profiles of vital signs. */
  readonly vitalSigns: VitalSigns
  readonly resourceId: ResourceIdRule
  readonly mustSupport: MustSupportReport
  /** Prefixes of urls of extensions that need no definition. */
  readonly extensionDomains: readonly string[]
}

/** How much is checked: everything, or only the structure that FHIR's own types define. */
export type Checks = 'all' | 'structure'

/** The place of a value that has a quick check. */
interface QuickCheckPlace {
  /** The type of the object that holds the value. */
  readonly parent: TypeDefinition
  /** The ElementDefinitions of the value. */
  readonly rules: readonly ElementRule[]
}

/** The rules for a node, prepared. */
export interface Plan {
  readonly type: TypeDefinition
  /** All rules for the node: those of its place, its type and its profiles. */
  readonly rules: readonly ElementRule[]
  /** The checks that the rules require, in the order of `RuleBook.demands`. */
  readonly demands: readonly NodeCheck[]
  readonly required: readonly RequiredMember[]
  /** Number of elements that are required. */
  readonly requiredElements: number
  /** The members requested so far, by JSON name. */
  readonly members: ReadonlyMap<string, PlannedMember>
  /** A member by its JSON name; `undefined` when the type has none of this name. */
  readonly member: (jsonName: string) => PlannedMember | undefined
}

/** A required member, or a required slice of one. */
export interface RequiredMember {
  readonly rule: ElementRule
  /** JSON names of which one must be present. */
  readonly names: readonly string[]
}

/** A member of a node, with the rules for it. */
export interface PlannedMember {
  readonly slot: ElementSlot
  readonly rules: readonly ElementRule[]
  readonly isRequired: boolean
  /** True when a rule on the type names this member in `needs`: it must run if the member is present. */
  readonly isNeeded: boolean
  /**
   * The check of its values before nodes are created for them; `never` when only a node can show that there is nothing to report. Absent before the
   * first value, and while definitions are pending.
   */
  quickCheck?: QuickCheck | 'never' | undefined
}

/** A check of a value's JSON alone. For most values it shows that there is nothing to report. */
export interface QuickCheck {
  /** The member whose values it checks. */
  readonly slot: ElementSlot
  /** Cardinality of the element. */
  readonly min: number
  readonly max: number
  /** Tests of the rules on types: whether they have anything to check. */
  readonly whens: readonly WhenTest[]
  /** Tests of the rules on ElementDefinitions. */
  readonly demands: readonly MetTest[]
  /** The form of a primitive value. */
  readonly form: PrimitiveCheck | undefined
  /** The plan for the members of a complex value. */
  readonly plan: Plan | undefined
}

/** Provides plans; each is created once. */
export interface Plans {
  /** The plan for a type and all the rules for a node. */
  readonly of: (type: TypeDefinition, rules: readonly ElementRule[]) => Plan
  /** The plan for a node from the rules of its place; `undefined` when the rules also depend on the node, or are pending. */
  readonly at: (run: Run, type: TypeDefinition, rules: readonly ElementRule[]) => Plan | undefined
  /** The plans for rules with slices. */
  readonly slices: WeakMap<ElementRule, SlicePlan>
}

/** The slices of a rule, prepared for an element and the rules beside it. */
export interface SlicePlan {
  /** The type of the object that has the element. */
  readonly parent: TypeDefinition
  readonly slot: ElementSlot
  /** All rules for the element. */
  readonly rules: readonly ElementRule[]
  readonly slicing: SlicingRule
  readonly questions: readonly SliceQuestion[]
  /** Why it cannot be decided which nodes are in the slices. Absent before it is asked, and while definitions are pending. */
  obstacle?: { readonly text: string | undefined }
}

/** A slice, and further information to decide which nodes are in it. */
export interface SliceQuestion {
  readonly slice: ElementRule
  /** The same slice in other profiles; used when its own rules do not decide. */
  readonly same: readonly ElementRule[]
  readonly discriminators: readonly Discriminator[]
}

/** The state of the quick checks of one walk. */
export interface QuickCheckState {
  /** The node that contains the values of the current check, at some depth. */
  within: FhirNode
  /** Number of values that the current check may still read. */
  left: number
  /** Objects that failed a check, so that checks which start at deeper levels do not examine them again. */
  readonly failed: Set<object>
}

/** Whether there is anything to check in a value. */
type WhenTest = (value: unknown, run: Run) => boolean

/** A rule on nodes of some types, beyond what their ElementDefinitions say. */
export interface NodeRule {
  /** Names of types, including resource types. The rule also applies to derived types: `uri` includes `canonical`, `Resource` every resource. */
  readonly on: readonly string[]
  /** The kinds of findings that it may report. */
  readonly finds: readonly FindingDefinition[]
  /**
   * Creates, once per place, the test whether there is anything to check in a value. The test runs on JSON values before nodes are created for them, so
   * that most need none; `run.quickCheck.within` is the node that contains the value, perhaps some levels up. `undefined` for a place where no value
   * needs a check. A rule without `when` checks every value.
   */
  readonly when?: (at: QuickCheckPlace) => WhenTest | undefined
  /** Instead of `when`: the JSON name of the member without which there is nothing to check in a value. */
  readonly needs?: string
  /** @param rules The ElementDefinitions of the node. */
  readonly check: (run: Run, node: FhirNode, rules: readonly ElementRule[]) => void
}

/** A rule on whole resources of some types, applied after the walk over the resource. */
export interface ResourceRule {
  /** As for `NodeRule`. */
  readonly on: readonly string[]
  readonly finds: readonly FindingDefinition[]
  /** A check that takes long yields or awaits `run.scheduler.turn()`. */
  readonly check: (run: Run, resource: FhirNode) => ReturnType<Task>
}

/**
 * True when a rule would report nothing about a JSON value; a primitive has neither id nor extensions here. It is called for values without a node,
 * below `run.quickCheck.within`.
 */
export type MetTest = (value: unknown, run: Run) => boolean

/** A rule on what ElementDefinitions state: a fixed value, a binding, a constraint. Profiles are compiled with these rules. */
export interface DemandRule {
  /** Names the rule in `ElementRule.demands`. */
  readonly name: string
  readonly finds: readonly FindingDefinition[]
  /** Whether an ElementDefinition states anything that the rule checks. Called once, when the profile is compiled. */
  readonly appliesTo: (rule: Omit<ElementRule, 'demands'>, model: TypeModel) => boolean
  /** Creates the test for values of a type, once per place; `undefined` when all values pass. A rule without `metTest` is checked on nodes only. */
  readonly metTest?: (rule: ElementRule, type: TypeDefinition) => MetTest | undefined
  /** Creates the check of nodes of a type from the ElementDefinitions that the rule applies to, once per place. */
  readonly checkBy: (rules: readonly ElementRule[], type: TypeDefinition) => NodeCheck
}

/** Checks a node. */
export type NodeCheck = (run: Run, node: FhirNode) => void

/** The rules of a validation: without those that are switched off, and with those of the host. */
export interface RuleBook {
  /** The rules on nodes of a type. */
  readonly onType: (type: string) => readonly NodeRule[]
  /** The rules on an element of a type, by their names. Only hosts define such rules. */
  readonly onElement: (type: string, element: string) => readonly NodeRule[]
  /** True when there are rules on elements at all. */
  readonly hasElementRules: boolean
  readonly onResource: (type: string) => readonly ResourceRule[]
  /** In the order in which they are checked. */
  readonly demands: readonly DemandRule[]
  readonly demand: (name: string) => DemandRule | undefined
  /** The configured severity of a kind of finding; `undefined` for the usual one. */
  readonly severityOf: (kind: string) => RuleSeverity | undefined
}

/** The members of a JSON object, as FHIR's own types define them. */
export interface Shape {
  readonly isResource: boolean
  /** By name in JSON. */
  readonly members: ReadonlyMap<string, ShapeMember>
  /** Number of required elements. */
  readonly requiredElements: number
}

/** One member of a shape. Flat, because the check of a resource reads thousands of them: bench `validate`. */
export interface ShapeMember {
  /** Its name in JSON. */
  readonly jsonName: string
  /** True for the object's id, which does not count as content. */
  readonly isId: boolean
  /** The name of the choice that it belongs to, such as `value`; `undefined` when it belongs to none. */
  readonly choice: string | undefined
  readonly isCollection: boolean
  readonly isRequired: boolean
  /** Whether one value is allowed; all that matters for members that are not collections. */
  readonly takesOne: boolean
  /** Whether this number of items is allowed. */
  readonly takes: (count: number) => boolean
  /** Checks a primitive value; `undefined` for other types. */
  readonly primitive: PrimitiveCheck | undefined
  /** True when the value can be any resource. */
  readonly isInnerResource: boolean
  /** The shape of a complex value; `undefined` while it is not known. */
  readonly inner: () => Shape | undefined
}

/** Provides shapes; each is created once. */
export interface Shapes {
  /** `undefined` for a type that is not known, and while its definition has yet to be fetched. */
  readonly of: (type: string, rule?: ElementRule) => Shape | undefined
}

/** The state of the check that shows, from JSON values alone, that a walk with `checks: 'structure'` would find nothing. */
export interface StructureCheck {
  readonly model: TypeModel
  readonly numberText: (parent: object, key: string | number) => string | undefined
  readonly now: Date
  readonly shapes: Shapes
  /** Objects in which the walk would find something. */
  readonly failed: Set<object>
  /** Number of values that the current check may still read; 0 when it cannot decide. */
  left: number
  /** True when the whole resource was checked: objects that are not in `failed` have passed. */
  isComplete: boolean
  /** True when the current check is of objects that were checked before, so that `failed` has the answer. */
  recalls: boolean
}

/** True for elements such as `Patient.contact`, whose type has no definition of its own. */
export function isNested(type: TypeDefinition): boolean {
  return type.name.includes('.')
}

/** The nearest resource around a node, or the node itself when it is a resource. */
export function resourceOf(node: FhirNode): FhirNode {
  let current = node
  while (current.type.kind !== 'resource' && current.parent !== undefined) current = current.parent
  return current
}
