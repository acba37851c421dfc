export { createBindingChecker, type BindingChecker, type BoundValue, type MemberTest, isUndecidable } from './binding.js'
export { and, andNot, bitmapFrom, bitmapOf, fleetingAnd, members, or, type Bitmap } from '../bits/index.js'
export { terminologyCapabilities, type CapabilitiesOptions } from './capabilities.js'
export { cachedWork, longKind, type CachedKind, type LongKind, type Pending, createMarks, keptLately, once, type Marks } from './memo.js'
export { CONCEPT_PROPERTIES, propertyText, propertyValue, STANDARDS_STATUS } from './code-system/concept-index.js'
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
  ImplicitType,
  OpenRelease,
  PlaceOrder,
  StandInValueSet,
} from '../code-system/index.js'
export { conceptOfKey, placedKey, MOST_PLACED, displayColumns, orderOver, type OrderedTexts } from './code-system/display-order.js'
export { chooseVersion, preparedChoice, type SystemChoice, type SystemFamily } from './code-system/system-family.js'
export { conceptTexts, mainText, PREFERRED_FOR_LANGUAGE, shownText, statedTexts } from './concept-texts.js'
export { hierarchyStep, codesText, languageStep, shownTextStep, textOrigin, versionStep } from './explain/steps.js'
export {
  nearestOf,
  type Candidate,
  type NearItem,
  explainUnknownCode,
  MOST_NEAREST,
  agreedSystem,
  neededConcept,
  neededSystem,
  type NeededSystem,
  unknownSystemValues,
} from './needed-system.js'
export { listable, readySet, testedSet, type FilterOperator } from './filter/concept-set.js'
export { writtenCode } from './filter/filter-property.js'
export { isElementList, isText, NO_IMPLICIT_RULES, unusableElement, wrongMember, type ElementShape } from './element-shape.js'
export { isWanted, languageFit, languageList, type LanguageList } from './languages.js'
export { escaped, escapedWhole, MESSAGES, messageText, type MessageId, type MessageRow, type MessageValues, refusal } from './messages.js'
export {
  demandedSupplements,
  ignoreUnknown,
  languagesFor,
  readLanguages,
  readTxResources,
  readVersionRules,
  type AskedLanguages,
  readTerminologyCall,
  type TerminologyCall,
} from './request-input.js'
export { terminologyScope, type ScopeOptions, type SystemInUse, type TerminologyScope } from './scope.js'
export { implicitDefinition, refuseUnopened } from './code-system/imported-releases.js'
export {
  standInNotes,
  statusNotes,
  systemNotes,
  type StatusNote,
  plannedValueSet,
  type PlannedValueSet,
  type ValueSetQuestion,
  type UsedDefinitions,
  decidingInclude,
  type DecidingInclude,
} from './value-set/planned-value-set.js'
export { definedValueSet, nameOf, readValueSet, type ListedCode, type ValueSetDefinition } from './value-set/value-set.js'
export {
  withGivenSystem,
  bothNames,
  namedValueSet,
  type GivenValueSet,
  type LooseValueSetName,
  type ValueSetByUrl,
  type ValueSetName,
  readValueSetName,
} from './value-set/named-value-set.js'
export { findValueSet } from './value-set/find-value-set.js'
export { makePlan, planWithSupplements, type PlanInScope } from './value-set/make-plan.js'
export { membershipIn, type MembershipOptions, type MembershipQuestion } from './value-set/membership.js'
export { type CodeInQuestion, type Membership, missingImports, withImports, type PartPlan, type ValueSetPlan } from './value-set/plan.js'
export { coverageOf, type Coverage } from './value-set/segment.js'
export { activeCodes, membersOf, selectableCodes, type Members } from './value-set/members.js'
export { conceptsOf, standIns, withCodes, type Segment } from './value-set/segment.js'
export { filterAnswers, holdsAtOnce, listedConcept, preparedFilters } from './value-set/filter-tests.js'
export { isOfVersion, NO_RULES, VERSION_RULES, versionFits, versionsByUrl, type VersionRules } from './versions.js'
export { FAR, wordPostings } from './code-system/word-postings.js'
export { filterWords, foldTerm, placeOfWord, wordsOf } from './words.js'
export { countingOrder, sortedPlaces } from './code-system/sorting.js'
export { makeProvider } from './code-system/resource-provider.js'
export type { CodeOrCoding, SystemAndCode, LooseCodeInput } from '../input/code-input.js'
