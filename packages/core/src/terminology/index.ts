export { and, andNot, bitmapFrom, bitmapOf, fleetingAnd, members, or, type Bitmap } from '../bits/index.js'
export type {
  CodeSystemProvider,
  ConceptIndex,
  ConceptSet,
  ConceptSource,
  ConceptStatus,
  ConceptText,
  DisplayOrder,
  Filter,
  FilterWord,
  Hierarchy,
  ImplicitType,
  OpenRelease,
  PlaceOrder,
  StandInValueSet,
  SystemHeader,
} from '../code-system/index.js'
export type { CodeOrCoding, LooseCodeInput, SystemAndCode } from '../input/code-input.js'
export { createBindingChecker, isUndecidable, type BindingChecker, type BoundValue, type MemberTest } from './binding.js'
export { terminologyCapabilities, type CapabilitiesOptions } from './capabilities.js'
export { conceptTexts, mainText, PREFERRED_FOR_LANGUAGE, shownText, statedTexts } from './concept-texts.js'
export { isElementList, isText, NO_IMPLICIT_RULES, unusableElement, wrongMember, type ElementShape } from './element-shape.js'
export { isWanted, languageFit, languageList, languagesFor, readLanguages, type AskedLanguages, type LanguageList } from './languages.js'
export { cachedWork, createMarks, longKind, memoizeRecent, once, type CachedKind, type LongKind, type Marks, type Pending } from './memo.js'
export { escaped, escapedWhole, MESSAGES, messageText, refusal, type MessageId, type MessageRow, type MessageValues } from './messages.js'
export { agreedSystem, neededConcept, neededSystem, unknownSystemValues, type NeededSystem } from './needed-system.js'
export { ignoreUnknown, readTerminologyCall, readTxResources, readVersionRules, type TerminologyCall } from './request-input.js'
export { systemScope, terminologyScope, type ScopeOptions, type SystemInUse, type TerminologyScope } from './scope.js'
export { isOfVersion, NO_RULES, VERSION_RULES, versionFits, versionsByUrl, type VersionRules } from './versions.js'
export { filterWords, foldTerm, placeOfWord, wordsOf } from './words.js'
export { CONCEPT_PROPERTIES, propertyText, propertyValue, STANDARDS_STATUS } from './code-system/concept-index.js'
export { conceptOfKey, displayColumns, MOST_PLACED, orderOver, placedKey, type OrderedTexts } from './code-system/display-order.js'
export { implicitDefinition, refuseUnopened } from './code-system/imported-releases.js'
export { makeProvider } from './code-system/resource-provider.js'
export { countingOrder, sortedPlaces } from './code-system/sorting.js'
export { chooseVersion, preparedChoice, type SystemChoice, type SystemFamily } from './code-system/system-family.js'
export { FAR, wordPostings } from './code-system/word-postings.js'
export { explainUnknownCode, MOST_NEAREST, nearestOf, type Candidate, type NearItem } from './explain/similar-codes.js'
export { codesText, hierarchyStep, languageStep, shownTextStep, textOrigin, versionStep } from './explain/steps.js'
export { listable, readySet, testedSet, type FilterOperator } from './filter/concept-set.js'
export { writtenCode } from './filter/filter-property.js'
export { decidingInclude, type DecidingInclude } from './value-set/deciding-include.js'
export { filterAnswers, holdsAtOnce, listedConcept, preparedFilters } from './value-set/filter-tests.js'
export {
  bothNames,
  findValueSet,
  namedValueSet,
  readValueSetName,
  type GivenValueSet,
  type LooseValueSetName,
  type ValueSetByUrl,
  type ValueSetName,
} from './value-set/find-value-set.js'
export { makePlan, planWithSupplements, type PlanInScope } from './value-set/make-plan.js'
export { activeCodes, membersOf, selectableCodes, type Members } from './value-set/members.js'
export { membershipIn, type MembershipOptions, type MembershipQuestion } from './value-set/membership.js'
export { missingImports, withImports, type CodeInQuestion, type Membership, type PartPlan, type ValueSetPlan } from './value-set/plan.js'
export { plannedValueSet, type PlannedValueSet, type ValueSetQuestion } from './value-set/planned-value-set.js'
export { conceptsOf, coverageOf, standIns, withCodes, type Coverage, type Segment } from './value-set/segment.js'
export { standInNotes, statusNotes, systemNotes, type StatusNote, type UsedDefinitions } from './value-set/used-definitions.js'
export {
  definedValueSet,
  demandedSupplements,
  nameOf,
  readValueSet,
  type ListedCode,
  type ValueSetDefinition,
} from './value-set/value-set.js'
