import { type FindingDefinition, FINDINGS_CUT } from '../run/finding.js'
import { PRIMITIVE_FINDINGS } from '../run/primitive-problem.js'
import type { DemandRule, NodeRule, ResourceRule } from '../run/run.js'
import { bundleRule } from './bundle/check-bundle.js'
import { BUNDLE_RULE_UNUSED } from './bundle/entry-profiles.js'
import { bindingRule } from './codes/check-bindings.js'
import { codingRule, unitRule } from './codes/check-coding.js'
import { outdatedValueSetRule, terminologyStatusRule } from './codes/check-status.js'
import { capabilityRule } from './conformance/capability-statement.js'
import { codeSystemRule } from './conformance/code-system.js'
import { conceptMapRule } from './conformance/concept-map.js'
import { implementationGuideRule } from './conformance/implementation-guide.js'
import { operationDefinitionRule } from './conformance/operation-definition.js'
import { searchParameterRule } from './conformance/search-parameter.js'
import { valueSetRule } from './conformance/value-set.js'
import { workGroupRule } from './conformance/work-group.js'
import { constraintRule } from './constraint/check-constraints.js'
import { attachmentRule, dataRequirementRule, elementIdRule, identifierRule } from './datatypes.js'
import { extensionRule } from './extension/check-extension.js'
import { extensionContextRule } from './extension/extension-context.js'
import { measureRule } from './measure/check-measure.js'
import { measureReportRule } from './measure/check-report.js'
import { languageSectionRule, narrativeRule, narrativeSourceRule, textLinkRule } from './narrative/check-narrative.js'
import { observationRule, PROFILE_APPLIED } from './observation.js'
import { parametersRule } from './parameters.js'
import { canonicalRule, exampleUrlRule, fragmentRule, incorrectUriRule } from './primitive/check-uri.js'
import { TEXT_FINDINGS, URI_FORM } from './primitive/text.js'
import { PROFILE_FINDINGS } from './profile/applied-profiles.js'
import { MUST_SUPPORT_LIST, NOT_MUST_SUPPORT } from './profile/must-support.js'
import { questionnaireRule } from './questionnaire/check-questionnaire.js'
import { questionnaireResponseRule } from './questionnaire/check-response.js'
import { referenceRule, targetRule } from './reference/check-reference.js'
import { resourceRule } from './resource.js'
import { signatureRule } from './signature/check-signature.js'
import { SLICE_FINDINGS } from './slicing/assign-slices.js'
import { structureDefinitionRule, typeNameRule } from './structure-definition/check-structure-definition.js'
import { structureMapRule } from './structure-map/check-structure-map.js'
import { CARDINALITY_FINDINGS, SHAPE_FINDINGS } from './structure/check-shape.js'
import { allowedTypeRule, UNKNOWN_RESOURCE_TYPE } from './structure/resource-type.js'
import { limitRule } from './value/check-limits.js'
import { fixedValueRule, neededValueRule, patternRule } from './value/check-value.js'

/** The rules on the content of ElementDefinitions, in the order in which they are checked. A new rule is a file and a line here. */
export const DEMAND_RULES: readonly DemandRule[] = [
  allowedTypeRule,
  fixedValueRule,
  patternRule,
  limitRule,
  neededValueRule,
  languageSectionRule,
  narrativeSourceRule,
  bindingRule,
  constraintRule,
  targetRule,
]

/** The rules on nodes by type, in the order in which they are checked. A new rule is a file and a line here. */
export const NODE_RULES: readonly NodeRule[] = [
  elementIdRule,
  resourceRule,
  workGroupRule,
  fragmentRule,
  exampleUrlRule,
  incorrectUriRule,
  codingRule,
  terminologyStatusRule,
  outdatedValueSetRule,
  unitRule,
  extensionRule,
  extensionContextRule,
  referenceRule,
  canonicalRule,
  identifierRule,
  attachmentRule,
  dataRequirementRule,
  narrativeRule,
  textLinkRule,
]

/** The rules on whole resources by type. A new rule is a file and a line here. */
export const RESOURCE_RULES: readonly ResourceRule[] = [
  bundleRule,
  signatureRule,
  measureRule,
  measureReportRule,
  codeSystemRule,
  valueSetRule,
  conceptMapRule,
  searchParameterRule,
  capabilityRule,
  operationDefinitionRule,
  implementationGuideRule,
  typeNameRule,
  structureDefinitionRule,
  structureMapRule,
  questionnaireRule,
  questionnaireResponseRule,
  observationRule,
  parametersRule,
]

/** Findings of the walk itself, about JSON, cardinality, slices and profiles. */
const WALK_FINDINGS: readonly FindingDefinition[] = [
  FINDINGS_CUT,
  ...SHAPE_FINDINGS,
  UNKNOWN_RESOURCE_TYPE,
  ...CARDINALITY_FINDINGS,
  ...PRIMITIVE_FINDINGS,
  ...TEXT_FINDINGS,
  URI_FORM,
  ...SLICE_FINDINGS,
  ...PROFILE_FINDINGS,
  PROFILE_APPLIED,
  BUNDLE_RULE_UNUSED,
  NOT_MUST_SUPPORT,
  MUST_SUPPORT_LIST,
]

/** Every kind of finding that a walk can report, by name, in the order of the rules. */
export const RULE_FINDINGS: ReadonlyMap<string, FindingDefinition> = new Map(
  [...WALK_FINDINGS, ...[...DEMAND_RULES, ...NODE_RULES, ...RESOURCE_RULES].flatMap(({ finds }) => finds)].map((one) => [one.kind, one]),
)
