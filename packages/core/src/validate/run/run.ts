import type { BestPractice, QuestionnaireMode, ReferenceCheck, Refusal, RuleSeverity } from '../../context/index.js'
import type { ElementSlot, FhirNode, FhirPathContext, TypeDefinition, TypeModel, UnitConversion } from '../../fhirpath/index.js'
import type { JsonObject } from '../../json/index.js'
import type { Work } from '../../work/index.js'
import type { Narrative } from '../rules/narrative/read-narrative.js'
import type { CodeList, Definitions } from './definitions.js'
import type { ElementRule } from './element-rule.js'
import type { FindingSink } from './finding-sink.js'
import type { FindingDefinition } from './finding.js'
import type { PrimitiveCheck } from './primitive-problem.js'
import type { FlawlessCheck } from './shape.js'

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
  /** What the rules come to for each type and place, worked out once. */
  readonly plans: Plans
  readonly look: Look
  /** Finds what need not be walked over, with `checks: 'structure'`. */
  readonly flawless: FlawlessCheck
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
  /** Beginnings of urls of extensions that need no definition. */
  readonly extensionDomains: readonly string[]
}

/** How much is checked: everything, or only the structure that FHIR's own types give. */
export type Checks = 'all' | 'structure'

/** When work is done: a resource may have thousands of elements, and other requests run in between. */
export interface Scheduler {
  /** Does the task when the walk so far is done; its findings are placed where it was scheduled. */
  readonly later: (task: Task) => void
  /** The same, when the whole walk is done. */
  readonly atEnd: (task: Task) => void
  /** Counts a step; ends the walk when time is up. */
  readonly step: () => void
  /** Counts a step, and lets other requests run when it is their turn. */
  readonly turn: () => Promise<void> | undefined
  /** Does the work of a leaf, other requests in between. */
  readonly run: <T>(work: Work<T>) => Promise<T>
  /** True when so much was done in one go that what comes is left for later. By number, so that findings do not depend on time. */
  readonly isDue: () => boolean
}

/** Work that is scheduled. One that takes long yields or awaits `turn`. */
export type Task = () => Work<void> | Promise<void> | void

/** What rules look up in the resource, each made at first use, by the object of the resource. */
export interface Indexes {
  readonly bundles: Map<object, BundleIndex>
  /** Contained resources by id. */
  readonly contained: Map<object, ReadonlyMap<string, FhirNode>>
  /** Ids of elements and anchors of narratives, with the number of places that have them. */
  readonly anchors: Map<object, ReadonlyMap<string, number>>
  /** Ids of elements seen so far, in each resource. */
  readonly ids: Map<object, Set<string>>
  /** The value sets to which each CodeableConcept is bound, by the object of the concept. */
  readonly boundLists: Map<object, () => readonly CodeList[]>
  /** What expressions work with in each resource, by the resource's node. */
  readonly contexts: Map<FhirNode, FhirPathContext>
  /** Results of trials whether a node fits a profile, by place and profile. */
  readonly trials: Map<string, boolean>
  /** Narratives that were read before they are visited, by their text. */
  readonly narratives: Map<string, Narrative>
  /** The ElementDefinitions of definitions. */
  readonly elements: Map<object, ElementIndex>
  /** Canonicals of what was noted and need not be again. */
  readonly noted: Set<string>
}

/** The ElementDefinitions of a definition. */
export interface ElementIndex {
  readonly byId: ReadonlyMap<unknown, JsonObject>
  /** Those that are not slices. */
  readonly byPath: ReadonlyMap<unknown, JsonObject>
  /** Those with `[x]` at the end of their path. */
  readonly choices: readonly JsonObject[]
}

/** Those of a resource that nothing has been looked up in. A class, because ten maps for each resource took a tenth of the time of a small one: bench `validate`. */
class LazyIndexes implements Indexes {
  #bundles: Indexes['bundles'] | undefined
  #contained: Indexes['contained'] | undefined
  #anchors: Indexes['anchors'] | undefined
  #ids: Indexes['ids'] | undefined
  #boundLists: Indexes['boundLists'] | undefined
  #contexts: Indexes['contexts'] | undefined
  #trials: Indexes['trials'] | undefined
  #narratives: Indexes['narratives'] | undefined
  #elements: Indexes['elements'] | undefined
  #noted: Indexes['noted'] | undefined

  get bundles(): Indexes['bundles'] {
    return (this.#bundles ??= new Map())
  }
  get contained(): Indexes['contained'] {
    return (this.#contained ??= new Map())
  }
  get anchors(): Indexes['anchors'] {
    return (this.#anchors ??= new Map())
  }
  get ids(): Indexes['ids'] {
    return (this.#ids ??= new Map())
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
  get noted(): Indexes['noted'] {
    return (this.#noted ??= new Set())
  }
}

/** Those of a resource that nothing has been looked up in, each made at first use. */
export function emptyIndexes(): Indexes {
  return new LazyIndexes()
}

/** An entry of a Bundle with a resource. */
export interface BundleEntry {
  readonly entry: FhirNode
  readonly resource: FhirNode
  readonly fullUrl: string | undefined
  /** `Type/id`, when the resource has an id. */
  readonly address: string | undefined
}

/** What references within a Bundle can lead to. */
export interface BundleIndex {
  readonly entries: readonly BundleEntry[]
  readonly byFullUrl: ReadonlyMap<string, readonly BundleEntry[]>
  readonly byAddress: ReadonlyMap<string, readonly BundleEntry[]>
  /** What relative references in an entry begin with, by the JSON value of the entry. */
  readonly bases: ReadonlyMap<unknown, string | undefined>
}

/** Where a value is that is looked at before a node is made for it. */
export interface LookedAt {
  /** The type of what the value is in. */
  readonly parent: TypeDefinition
  /** The ElementDefinitions of the value. */
  readonly rules: readonly ElementRule[]
}

/** What the rules for a node come to. */
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
  /** True when a rule on the type as a whole needs the member: there is something to look at where it is there. */
  readonly isNeeded: boolean
  /** How to look at its values before nodes are made for them; absent before the first look, and while definitions have yet to be fetched. */
  look?: ValueLook | undefined
}

/** How to see that there is nothing to report about a value; `never` where only a node can show that. */
export type ValueLook = 'never' | PossibleLook

/** What is asked of a value, its JSON alone. */
export interface PossibleLook {
  readonly type: TypeDefinition
  /** How often the element may be there. */
  readonly min: number
  readonly max: number
  /** What the rules on types have to look at. */
  readonly whens: readonly ReturnType<NonNullable<NodeRule['when']>>[]
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

/** The look at values for which no node need be made. */
export interface Look {
  /** The node that the values are in, at some depth. */
  home: FhirNode
  /** Values that the present look may still look at. */
  left: number
  /** Objects about which there is something to report, so that what is in them is not looked through again from each level down to it. */
  readonly flawed: Set<object>
}

/** A rule on nodes of some types, beyond what their ElementDefinitions say. */
export interface NodeRule {
  /** Names of types, of resources too. It holds for types that derive from them: `uri` includes `canonical`, `Resource` every resource. */
  readonly on: readonly string[]
  /** What it may report. */
  readonly finds: readonly FindingDefinition[]
  /**
   * Makes, once for each place, the test whether there is anything to look at in a value. It is asked of JSON values before a node is made for them,
   * so that most need none; the node around the value, which may be some levels up, is `run.look.home`. A rule without it looks at every value.
   */
  readonly when?: (at: LookedAt) => (value: unknown, run: Run) => boolean
  /** Instead of `when`, the name in JSON of the member without which there is nothing to look at in a value. */
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
 * `run.look.home`.
 */
export type MetTest = (value: unknown, run: Run) => boolean

/** A rule on what ElementDefinitions say: a fixed value, a binding, a constraint. Profiles are compiled by it. */
export interface DemandRule {
  /** Names the rule in `ElementRule.demands`. */
  readonly name: string
  readonly finds: readonly FindingDefinition[]
  /** Whether an ElementDefinition says anything of the kind. Asked once, when its profile is compiled. */
  readonly appliesTo: (rule: Omit<ElementRule, 'demands'>, model: TypeModel) => boolean
  /** Makes the test for values of a type, once for each place. A rule without it is checked on nodes only. */
  readonly metTest?: (rule: ElementRule, type: TypeDefinition) => MetTest
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
