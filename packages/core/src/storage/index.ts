export type {
  Capabilities,
  ContainedEntry,
  DeleteEntry,
  PutEntry,
  ReadResult,
  ResourceOf,
  SearchPage,
  Storage,
  StoredResource,
  WriteEntry,
  WriteResult,
} from './storage.js'
export type { HistoryItem, HistoryPage, HistoryPeriod, HistoryQuery, ResourceHistory, ResourceVersion } from './history.js'
export { allMatches } from './all-matches.js'
export { DEFINITION_PARAM, isDefinitionEntry } from './definition-param.js'
export { CONTAINED_PARAM, containedPuts, containedType, containerOfPlace, isContainedType, placesOf } from './contained.js'
export { cursorParts } from './cursor-parts.js'
export { historyCursor, historyOrder, readHistoryCursor, versionNumber, type HistoryPosition } from './history-cursor.js'
export { putResource, puttingResource, type Indexer, type ResourceToPut } from './put-resource.js'
export { isResourceId, isResourceType, resourceTypes } from './resource-types.js'
export { checkQuery, checkVersion } from './checks.js'
export { checkLaidOut, storedResource, stampedText } from './stored-resource.js'
export { comparePositions, compareSortKeys, positionOf, type IndexedResource, type SortPosition } from './sort-position.js'
export { checkAddress, writableText } from './writable-text.js'
export type { Comparison, Condition, EntryTest, IndexEntry, SearchQuery, SortKey } from './query.js'
export type { ConceptStore, StagedSystem, StoredSystem, SystemSections, SystemToStore } from './concept-store.js'
export type { KnownSession, SessionChange, SessionNews, SessionRecord, SessionState, SessionStore, UserRecord } from './session-store.js'
export { wrappedStorage, type StorageMembers } from './wrapped-storage.js'
