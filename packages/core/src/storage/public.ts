export type {
  Capabilities,
  ChangedAddress,
  DeleteEntry,
  PutEntry,
  ScanItem,
  ScanPage,
  SearchPage,
  Storage,
  StorageChanges,
  StoredResource,
  WriteEntry,
  WriteResult,
  HistoryItem,
  HistoryPage,
  HistoryPeriod,
  HistoryQuery,
  ResourceHistory,
  ResourceVersion,
  ReadResult,
  ResourceOf,
} from './storage.js'
export { type HistoryPosition, historyCursor, historyOrder, readHistoryCursor, versionNumber } from './cursors.js'
export { allMatches } from './all-matches.js'
export { scanItemTooLong, scanResources, SCAN_ITEM_BYTES, SCAN_PAGE_BYTES } from './scan.js'
export {
  DEFINITION_PARAM,
  isDefinitionEntry,
  type Comparison,
  type Condition,
  type EntryTest,
  type IndexEntry,
  type Referring,
  type ScanQuery,
  type SearchQuery,
  type SortKey,
} from './query.js'
export { CONTAINED_PARAM, containedPuts, containedType, isContainedType, placesOf } from './contained.js'
export { putResource, type Indexer, checkAddress, writableText } from './put-resource.js'
export { checkLaidOut, storedResource, stampedText } from './stored-resource.js'
export { comparePositions, type SortPosition } from './sort-position.js'
export { isResourceId, isResourceType } from './resource-types.js'
export type { ConceptStore, StagedSystem, StoredSystem, SystemSections, SystemToStore } from './concept-store.js'
export type { SessionChange, SessionNews, SessionRecord, SessionState, SessionStore, UserRecord } from './session-store.js'
export { wrappedStorage } from './wrapped-storage.js'
