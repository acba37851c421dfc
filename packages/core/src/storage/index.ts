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
export { storedResource, stampedText } from './stored-resource.js'
export type { Comparison, Condition, EntryTest, IndexEntry, SearchQuery, SortKey } from './query.js'
export type {
  ConceptDesignation,
  ConceptPage,
  ConceptQuery,
  ConceptRecord,
  ConceptStore,
  StoredSystem,
} from './concept-store.js'
export type { SessionChange, SessionRecord, SessionState, SessionStore, UserRecord } from './session-store.js'
