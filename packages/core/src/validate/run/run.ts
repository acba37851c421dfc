import type { BestPractice, Refusal } from '../../context/index.js'
import type { FhirNode, FhirPathContext, TypeDefinition, TypeModel, UnitConversion } from '../../fhirpath/index.js'
import type { Work } from '../../work/index.js'
import type { CodeList } from '../definitions/code-lists.js'
import type { Definitions } from '../definitions/definitions.js'
import type { BundleIndex } from '../rules/reference/resolve-locally.js'
import type { FlawlessCheck } from '../walk/flawless.js'
import type { ElementRule } from './element-rule.js'
import type { FindingSink } from './finding-sink.js'

/** What stays the same while a resource is walked over. */
export interface Run {
  readonly model: TypeModel
  readonly definitions: Definitions
  readonly findings: FindingSink
  /** The resource that is validated. */
  readonly root: FhirNode
  readonly now: Date
  /** Compares quantities of different units. */
  readonly convertUnit: UnitConversion
  /** A number as it was written, when JavaScript would write it otherwise. */
  readonly numberText: (parent: object, key: string | number) => string | undefined
  /** False while it is only tried whether a node fits a profile: what FHIR's own types demand is said elsewhere. */
  readonly isStructural: boolean
  readonly checks: Checks
  /** Tells what need not be walked over, with `checks: 'structure'`. */
  readonly flawless: FlawlessCheck
  /** Severity of best practices. */
  readonly bestPractice: BestPractice
  /** What is an error though FHIR allows it. */
  readonly refuses: ReadonlySet<Refusal>
  /** Checks a node and all below it. A member, so that rules can walk into other nodes without importing the walk. */
  readonly visit: (run: Run, node: FhirNode, rules: readonly ElementRule[]) => void
  /** Results of trials whether a node fits a profile, by place and profile. */
  readonly trials: Map<string, boolean>
  /** The value sets to which each CodeableConcept is bound, by the object of the concept. */
  readonly lists: Map<object, () => readonly CodeList[]>
  /** Canonicals of what was noted and need not be again. */
  readonly noted: Set<string>
  /** What references and links can lead to. */
  readonly targets: Targets
  /** What expressions work with in each resource, by the resource's node. */
  readonly contexts: Map<FhirNode, FhirPathContext>
  /** Does the work when the walk so far is done, with a chance for other requests in between; its findings stand where they belong. */
  readonly later: (work: () => Work<void>) => void
  /** The same, when the whole walk is done. */
  readonly atEnd: (work: () => Work<void>) => void
  /** Counts a step; ends the walk when time is up. */
  readonly step: () => void
  /** True when so much was done in one go that others should have a turn: what comes is done later. By number, so that findings do not depend on time. */
  readonly isDue: () => boolean
}

/** How much is checked: everything, or only the structure that FHIR's own types give. */
export type Checks = 'all' | 'structure'

/** Indexes over what references and links can lead to, each made at first use, by the object of the resource. */
interface Targets {
  readonly bundles: Map<object, BundleIndex>
  /** Contained resources by id. */
  readonly contained: Map<object, ReadonlyMap<string, FhirNode>>
  /** Ids of elements and anchors of narratives, with the number of places that have them. */
  readonly anchors: Map<object, ReadonlyMap<string, number>>
  /** Ids of elements that were come by, in each resource. */
  readonly ids: Map<object, Set<string>>
}

/** Checks one node beyond what its ElementDefinitions, which are at hand as `rules`, say. */
export type NodeCheck = (run: Run, node: FhirNode, rules: readonly ElementRule[]) => void

/** Checks a resource as a whole. Some are long, so it is work in which others have turns. */
export type ResourceCheck = (run: Run, resource: FhirNode) => Work<void>

/** The nearest resource that a node is in, or the node itself when it is one. */
export function resourceOf(node: FhirNode): FhirNode {
  let current = node
  while (current.type.kind !== 'resource' && current.parent !== undefined) current = current.parent
  return current
}

/** True for elements such as `Patient.contact`, whose type has no definition of its own. */
export function isNested(type: TypeDefinition): boolean {
  return type.name.includes('.')
}
