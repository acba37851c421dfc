import type { BestPractice, QuestionnaireMode, ReferenceCheck, Refusal, RuleSeverity, VitalSigns } from '../../context/index.js'
import type { ElementSlot, FhirNode, TypeDefinition, TypeModel, UnitConversion } from '../../fhirpath/index.js'
import type { Definitions } from './definitions.js'
import type { ElementRule } from './element-rule.js'
import type { FindingSink } from './finding-sink.js'
import type { FindingDefinition } from './finding.js'
import type { Indexes } from './indexes.js'
import type { PrimitiveCheck } from './primitive-problem.js'
import type { Scheduler, Task } from './scheduler.js'
import type { StructureCheck } from './structure-shape.js'

/** One walk over a resource: what it walks over, what it checks by, and where its findings go. */
export interface Run {
  readonly model: TypeModel
  /** The resource that is validated. */
  readonly root: FhirNode
  readonly now: Date
  /** Compares quantities of different units. */
  readonly convertUnit: UnitConversion
  /** A number as it was written, when JavaScript would write it otherwise. */
  readonly numberText: (parent: object, key: string | number) => string | undefined
  readonly policy: RunPolicy
  /** False where only the rules of profiles are applied: those of FHIR's own types are applied by another walk over the same nodes. */
  readonly checksTypes: boolean
  readonly rules: RuleBook
  readonly definitions: Definitions
  readonly findings: FindingSink
  readonly scheduler: Scheduler
  readonly indexes: Indexes
  /** The plan of the rules for each type and place, made once. */
  readonly plans: Plans
  readonly quickCheck: QuickCheckState
  /** Shows what need not be walked over, with `checks: 'structure'`. */
  readonly structureCheck: StructureCheck
  /** Checks a node and all below it. A member, so that rules can walk into other nodes without importing the walk. */
  readonly visit: (run: Run, node: FhirNode, rules: readonly ElementRule[]) => void
}

/** What the caller and the host ask for. */
export interface RunPolicy {
  readonly checks: Checks
  /** Severity of best practices. */
  readonly bestPractice: BestPractice
  /** What is an error though FHIR allows it. */
  readonly refuses: ReadonlySet<Refusal>
  /** Whether references to stored resources are followed. */
  readonly validateReferences: ReferenceCheck
  /** Absolute URLs in references name the type of what they lead to. */
  readonly assumeValidRestReferences: boolean
  readonly allowComments: boolean
  readonly questionnaire: QuestionnaireMode
  /** Report what is outside of an extensible value set. */
  readonly extensibleBindingWarnings: boolean
  readonly enforceAggregationOutsideBundles: boolean
  readonly validateContained: boolean
  /** Which Observations must conform to the profiles of vital signs. */
  readonly vitalSigns: VitalSigns
  /** Beginnings of urls of extensions that need no definition. */
  readonly extensionDomains: readonly string[]
}

/** How much is checked: everything, or only the structure that FHIR's own types give. */
export type Checks = 'all' | 'structure'

/** The place of a value that has a quick check. */
export interface QuickCheckPlace {
  /** The type of what the value is in. */
  readonly parent: TypeDefinition
  /** The ElementDefinitions of the value. */
  readonly rules: readonly ElementRule[]
}

/** The rules for a node, prepared. */
export interface Plan {
  readonly type: TypeDefinition
  /** All rules for the node: those of its place, its type and its profiles. */
  readonly rules: readonly ElementRule[]
  /** The checks of what the rules say, in the order of `RuleBook.demands`. */
  readonly demands: readonly NodeCheck[]
  readonly required: readonly RequiredMember[]
  /** Number of elements that are required. */
  readonly requiredElements: number
  /** The members that were asked for so far, by their names in JSON. */
  readonly members: ReadonlyMap<string, PlannedMember>
  /** A member by its name in JSON; `undefined` when the type has none of this name. */
  readonly member: (jsonName: string) => PlannedMember | undefined
}

/** A member, or a slice of one, that must be there. */
export interface RequiredMember {
  readonly rule: ElementRule
  /** The names in JSON of which one suffices. */
  readonly names: readonly string[]
}

/** A member of a node as far as the rules for the node say something about it. */
export interface PlannedMember {
  readonly slot: ElementSlot
  readonly rules: readonly ElementRule[]
  readonly isRequired: boolean
  /** True when a rule on the type as a whole needs the member: there is something to check where it is there. */
  readonly isNeeded: boolean
  /**
   * The check of its values before nodes are made for them; `never` where only a node can show that there is nothing to report. Absent before the
   * first of them, and while definitions have yet to be fetched.
   */
  quickCheck?: QuickCheck | 'never' | undefined
}

/** A check of a value's JSON alone, which shows of most values that there is nothing to report. */
export interface QuickCheck {
  /** The member that it is of. */
  readonly slot: ElementSlot
  /** How often the element may be there. */
  readonly min: number
  readonly max: number
  /** Whether the rules on types have anything to check. */
  readonly whens: readonly WhenTest[]
  /** What the rules on ElementDefinitions demand. */
  readonly demands: readonly MetTest[]
  /** The form of a primitive value. */
  readonly form: PrimitiveCheck | undefined
  /** What is in a complex value. */
  readonly plan: Plan | undefined
}

/** Finds plans, each made once. */
export interface Plans {
  /** That for a type and all the rules for a node. */
  readonly of: (type: TypeDefinition, rules: readonly ElementRule[]) => Plan
  /** That for a node by the rules of its place; `undefined` where the rules depend on the node too, or have yet to be fetched. */
  readonly at: (run: Run, type: TypeDefinition, rules: readonly ElementRule[]) => Plan | undefined
}

/** The state of the quick checks of one walk. */
export interface QuickCheckState {
  /** The node that the values of the present one are in, at some depth. */
  within: FhirNode
  /** Values that the present one may still check. */
  left: number
  /** Objects about which there is something to report, so that what is in them is not checked again from each level down to it. */
  readonly failed: Set<object>
}

/** Whether there is anything to check in a value. */
export type WhenTest = (value: unknown, run: Run) => boolean

/** A rule on nodes of some types, beyond what their ElementDefinitions say. */
export interface NodeRule {
  /** Names of types, of resources too. It holds for types that derive from them: `uri` includes `canonical`, `Resource` every resource. */
  readonly on: readonly string[]
  /** What it may report. */
  readonly finds: readonly FindingDefinition[]
  /**
   * Makes, once for each place, the test whether there is anything to check in a value. It is asked of JSON values before a node is made for them,
   * so that most need none; the node around the value, which may be some levels up, is `run.quickCheck.within`. `undefined` for a place where there is
   * nothing to check in any value. A rule without it checks every value.
   */
  readonly when?: (at: QuickCheckPlace) => WhenTest | undefined
  /** Instead of `when`, the name in JSON of the member without which there is nothing to check in a value. */
  readonly needs?: string
  /** @param rules The ElementDefinitions of the node. */
  readonly check: (run: Run, node: FhirNode, rules: readonly ElementRule[]) => void
}

/** A rule on resources of some types as a whole, applied when the walk over the resource is done. */
export interface ResourceRule {
  /** As for `NodeRule`. */
  readonly on: readonly string[]
  readonly finds: readonly FindingDefinition[]
  /** One that takes long yields or awaits `run.scheduler.turn()`. */
  readonly check: (run: Run, resource: FhirNode) => ReturnType<Task>
}

/**
 * True when a rule would report nothing on a JSON value, a primitive without id and extensions. It is asked of values for which no node is made, in
 * `run.quickCheck.within`.
 */
export type MetTest = (value: unknown, run: Run) => boolean

/** A rule on what ElementDefinitions say: a fixed value, a binding, a constraint. Profiles are compiled by it. */
export interface DemandRule {
  /** Names the rule in `ElementRule.demands`. */
  readonly name: string
  readonly finds: readonly FindingDefinition[]
  /** Whether an ElementDefinition says anything of the kind. Asked once, when its profile is compiled. */
  readonly appliesTo: (rule: Omit<ElementRule, 'demands'>, model: TypeModel) => boolean
  /**
   * Makes the test for values of a type, once for each place; `undefined` where all values pass. A rule without it is checked on nodes only.
   */
  readonly metTest?: (rule: ElementRule, type: TypeDefinition) => MetTest | undefined
  /** Makes the check of nodes of a type by the ElementDefinitions that say something of the kind, once for each place. */
  readonly checkBy: (rules: readonly ElementRule[], type: TypeDefinition) => NodeCheck
}

/** Checks a node. */
export type NodeCheck = (run: Run, node: FhirNode) => void

/** The rules of a validation, without those that are switched off and with those of the host. */
export interface RuleBook {
  /** The rules on nodes of a type. */
  readonly onType: (type: string) => readonly NodeRule[]
  /** The rules on an element of a type, by their names. Only hosts have them. */
  readonly onElement: (type: string, element: string) => readonly NodeRule[]
  /** True when there are rules on elements at all. */
  readonly hasElementRules: boolean
  readonly onResource: (type: string) => readonly ResourceRule[]
  /** In the order in which they are checked. */
  readonly demands: readonly DemandRule[]
  readonly demand: (name: string) => DemandRule | undefined
  /** The severity that is set for a kind of finding; `undefined` when it is the usual one. */
  readonly severityOf: (kind: string) => RuleSeverity | undefined
}

/** True for elements such as `Patient.contact`, whose type has no definition of its own. */
export function isNested(type: TypeDefinition): boolean {
  return type.name.includes('.')
}

/** The nearest resource that a node is in, or the node itself when it is one. */
export function resourceOf(node: FhirNode): FhirNode {
  let current = node
  while (current.type.kind !== 'resource' && current.parent !== undefined) current = current.parent
  return current
}
