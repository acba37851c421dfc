export {
  type Capabilities,
  type DeleteEntry,
  type PutEntry,
  type ScanPage,
  type SearchPage,
  type Storage,
  type StorageChanges,
  type StoredResource,
  type WriteEntry,
  type WriteResult,
  type HistoryPage,
  type HistoryQuery,
  type ResourceHistory,
  type ReadResult,
  type ResourceOf,
  wrappedStorage,
} from './storage.js'
export { historyCursor, historyOrder, readHistoryCursor, versionNumber, comparePositions, type SortPosition } from './positions.js'
export { allMatches, scanItemTooLong, scanResources, SCAN_ITEM_BYTES, SCAN_PAGE_BYTES } from './scan.js'
export {
  DEFINITION_PARAM,
  isDefinitionEntry,
  type Comparison,
  type Condition,
  type EntryTest,
  type IndexEntry,
  type ScanQuery,
  type SearchQuery,
  type SortKey,
} from './query.js'
export {
  CONTAINED_PARAM,
  type Indexer,
  checkAddress,
  checkLaidOut,
  containedPuts,
  containedType,
  placesOf,
  putResource,
  storedResource,
  writableText,
} from './stored-resource.js'
export { isResourceId, isResourceType, checkEntries, checkQuery, checkScan } from './checks.js'
export type { ConceptStore, StoredSystem, SystemSections, SystemToStore } from './concept-store.js'
export type { SessionRecord, SessionStore, UserRecord } from './session-store.js'
