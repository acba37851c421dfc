export { bindingChecker, type BindingChecker, type BoundValue, type MemberTest } from './binding.js'
export { and, andNot, bitmapFrom, bitmapOf, fleetingAnd, members, or, type Bitmap } from '../bits/index.js'
export { terminologyCapabilities, type CapabilitiesOptions } from './capabilities.js'
export { cachedWork, type LongKind, type Pending } from './cached-work.js'
export { CONCEPT_PROPERTIES } from './code-system/concept-status.js'
export type {
  ConceptStatus,
  DisplayOrder,
  Hierarchy,
  CodeSystemProvider,
  ConceptIndex,
  ConceptSource,
  SystemHeader,
  ConceptText,
  ConceptSet,
  Filter,
  FilterWord,
} from '../code-system/index.js'
export { conceptOfKey, placedKey } from './code-system/placed-key.js'
export { propertyText, propertyValue } from './code-system/property-value.js'
export { chooseVersion, preparedChoice, type SystemChoice, type SystemFamily } from './code-system/system-family.js'
export { conceptTexts, mainText, shownText } from './concept-texts.js'
export { hierarchyStep } from './explain/hierarchy-step.js'
export { nearestOf, type Candidate, type NearItem } from './explain/nearest.js'
export { codesText } from './explain/part-text.js'
export { languageStep, shownTextStep, textOrigin } from './explain/text-steps.js'
export { explainUnknownCode } from './explain/unknown-code.js'
export { versionStep } from './explain/version-step.js'
export { listable } from './filter/concept-set.js'
export type { FilterOperator } from './filter/operator.js'
export { isWanted, languageList, type LanguageList } from './languages.js'
export { escaped, escapedWhole, MESSAGES, messageText, type MessageId, type MessageRow, type MessageValues } from './messages.js'
export { refusal } from './refusal.js'
export {
  demandedSupplements,
  ignoreUnknown,
  languagesFor,
  readLanguages,
  readTxResources,
  readVersionRules,
  type AskedLanguages,
} from './request-input.js'
export { terminologyScope, type ScopeOptions, type TerminologyScope } from './scope.js'
export { readTerminologyCall, type TerminologyCall } from './terminology-call.js'
export { implicitDefinition, refuseUnopened } from './code-system/imported-releases.js'
export { standInNotes, statusNotes, systemNotes, type StatusNote } from './status-check.js'
export { neededConcept, neededSystem, type NeededSystem } from './needed-system.js'
export { unknownSystemValues } from './unknown-system.js'
export { definedValueSet } from './value-set/defined-value-set.js'
export { findValueSet } from './value-set/find-value-set.js'
export { makePlan } from './value-set/make-plan.js'
export {
  membershipIn,
  type CodeInQuestion,
  type Membership,
  type MembershipOptions,
  type MembershipQuestion,
} from './value-set/membership.js'
export {
  bothNames,
  namedValueSet,
  type GivenValueSet,
  type LooseValueSetName,
  type ValueSetByUrl,
  type ValueSetName,
} from './value-set/named-value-set.js'
export { coverageOf, type Coverage } from './value-set/coverage.js'
export { activeCodes, membersOf, selectableCodes, type Members } from './value-set/members.js'
export { plannedValueSet, type PlannedValueSet, type ValueSetQuestion } from './value-set/planned-value-set.js'
export { missingImports, withImports, type ConceptSetPlan, type ValueSetPlan } from './value-set/plan.js'
export { conceptsOf, standIns, withCodes, type Segment } from './value-set/segment.js'
export type { DecidingInclude } from './value-set/deciding-include.js'
export { readValueSetName } from './value-set/read-value-set-name.js'
export { preparedFilters } from './value-set/prepared-filters.js'
export { nameOf, readValueSet, type ListedCode, type ValueSetDefinition } from './value-set/value-set.js'
export { isOfVersion, NO_RULES, versionFits, versionsByUrl, type VersionRules } from './versions.js'
export { FAR } from './code-system/word-postings.js'
export { filterWords, foldTerm, placeOfWord } from './words.js'
export { countingOrder } from './code-system/counting-order.js'
export { displayColumns, orderOver, type OrderedTexts } from './code-system/display-order.js'
export { MOST_PLACED } from './code-system/placed-key.js'
export { makeProvider } from './code-system/resource-provider.js'
export { wordPostings } from './code-system/word-postings.js'
export { testedSet } from './filter/concept-set.js'
export { keptLately } from './kept-lately.js'
export { once } from './once.js'
export { wordsOf } from './words.js'
