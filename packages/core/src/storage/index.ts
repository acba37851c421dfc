export type {
  Capabilities,
  DeleteEntry,
  PutEntry,
  SearchPage,
  Storage,
  StoredResource,
  WriteEntry,
  WriteResult,
} from './storage.js'
export { allMatches } from './all-matches.js'
export { jsonItems, jsonMembers, type JsonMember } from './json-members.js'
export { putResource, type Indexer, type ResourceToPut } from './put-resource.js'
export { isResourceId, isResourceType, resourceTypes } from './resource-types.js'
export { checkLaidOut, storedResource, stampedText } from './stored-resource.js'
export { checkAddress, writableText } from './writable-text.js'
export type { Comparison, Condition, EntryTest, IndexEntry, SearchQuery, SortKey } from './query.js'
export type { ConceptStore, StagedSystem, StoredSystem, SystemSections, SystemToStore } from './concept-store.js'
export type { SessionChange, SessionRecord, SessionState, SessionStore, UserRecord } from './session-store.js'
