export { cursorOf, isAfter, orderTerms, readCursor, sortColumn, type KeyValue, type Position, textAfter } from './keyset.js'
export { createResourceCache, type LookUp, type ResourceCache, type ResourceCacheBounds } from './resource-cache.js'
export { instantOf, resourceOf, type ResourceRow, sessionOf, type SessionRow } from './rows.js'
export { joined, sqlTag, type Sql, type SqlTag } from './sql.js'
