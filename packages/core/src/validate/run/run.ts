import type { BestPractice, QuestionnaireMode, ReferenceCheck, Refusal, RuleSeverity } from '../../context/index.js'
import type { FhirNode, FhirPathContext, TypeDefinition, TypeModel, UnitConversion } from '../../fhirpath/index.js'
import type { Work } from '../../work/index.js'
import type { CodeList, Definitions } from './definitions.js'
import type { ElementRule } from './element-rule.js'
import type { FindingSink } from './finding-sink.js'
import type { FindingDefinition } from './finding.js'
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
  /** Canonicals of what was noted and need not be again. */
  readonly noted: Set<string>
}

/** Those of a resource that nothing has been looked up in. */
export function emptyIndexes(): Indexes {
  return {
    bundles: new Map(),
    contained: new Map(),
    anchors: new Map(),
    ids: new Map(),
    boundLists: new Map(),
    contexts: new Map(),
    trials: new Map(),
    noted: new Set(),
  }
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
}

/** A rule on nodes of some types, beyond what their ElementDefinitions say. */
export interface NodeRule {
  /** Names of types, of resources too. It holds for types that derive from them: `uri` includes `canonical`, `Resource` every resource. */
  readonly on: readonly string[]
  /** What it may report. */
  readonly finds: readonly FindingDefinition[]
  /**
   * Whether there is anything to look at in a value. It is asked of JSON values before a node is made for them, so that most need none; a rule
   * without it looks at every value.
   */
  readonly when?: (value: unknown, run: Run) => boolean
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

/** A rule on what ElementDefinitions say: a fixed value, a binding, a constraint. Profiles are compiled by it. */
export interface DemandRule {
  /** Names the rule in `ElementRule.demands`. */
  readonly name: string
  readonly finds: readonly FindingDefinition[]
  /** Whether an ElementDefinition says anything of the kind. Asked once, when its profile is compiled. */
  readonly appliesTo: (rule: Omit<ElementRule, 'demands'>, model: TypeModel) => boolean
  /** True when `check` would report nothing on a JSON value without id and extensions. A rule without it is checked on nodes only. */
  readonly isMet?: (run: Run, rule: ElementRule, value: unknown) => boolean
  /** @param rules The ElementDefinitions of the node that it applies to. */
  readonly check: (run: Run, node: FhirNode, rules: readonly ElementRule[]) => void
}

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
