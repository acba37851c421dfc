export {
  type Capabilities,
  type ChangedAddress,
  type ContainedEntry,
  type DeleteEntry,
  type PutEntry,
  type ReadResult,
  type ResourceOf,
  type ScanItem,
  type ScanPage,
  type SearchPage,
  type Storage,
  type StorageChanges,
  type StoredResource,
  type WriteEntry,
  type WriteResult,
  type HistoryItem,
  type HistoryPage,
  type HistoryPeriod,
  type HistoryQuery,
  type ResourceHistory,
  type ResourceVersion,
  wrappedStorage,
  type StorageMembers,
} from './storage.js'
export { allMatches, scanItemTooLong, scanPages, scanResources, SCAN_ITEM_BYTES, SCAN_PAGE_BYTES } from './scan.js'
export {
  CONTAINED_PARAM,
  containedPuts,
  containedType,
  containerOfPlace,
  isContainedType,
  placesOf,
  checkLaidOut,
  LONG_TEXT,
  storedResource,
  stampedText,
} from './stored-resource.js'
export { cursorParts, historyCursor, historyOrder, readHistoryCursor, versionNumber, type HistoryPosition } from './cursors.js'
export {
  checkAddress,
  putResource,
  puttingChecked,
  puttingResource,
  writableText,
  type CheckedResource,
  type Indexer,
  type ResourceToPut,
} from './put-resource.js'
export {
  isNumberComparison,
  isTextComparison,
  numberHolds,
  satisfies,
  textHolds,
  type NumberComparison,
  type TextComparison,
  createFrequency,
  testKey,
  type FrequencyOptions,
} from './entry-test.js'
export { joinAlternatives, type JoinOptions } from './alternatives.js'
export { isResourceId, isResourceType, resourceTypes } from './resource-types.js'
export {
  checkEntries,
  checkOnlyMatch,
  checkQuery,
  checkScan,
  checkVersion,
  conditionalPuts,
  MATCHES_OF_PUT,
  type ConditionalPut,
} from './checks.js'
export { comparePositions, compareSortKeys, positionOf, sortKeyAmong, type IndexedResource, type SortPosition } from './sort-position.js'
export { DEFINITION_PARAM, isDefinitionEntry } from './query.js'
export type { Comparison, Condition, EntryTest, IndexEntry, Referring, ScanQuery, SearchQuery, SortKey } from './query.js'
export type { ConceptStore, StagedSystem, StoredSystem, SystemSections, SystemToStore } from './concept-store.js'
export type {
  KnownSession,
  SessionChange,
  SessionNews,
  SessionRecord,
  SessionState,
  SessionStore,
  UserRecord,
  WantedSessions,
} from './session-store.js'
