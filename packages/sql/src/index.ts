export { cursorOf, isAfter, MAX_PAGE_TEXT, orderTerms, pageLimit, readCursor, sortColumn, type KeyValue, type Position } from './keyset.js'
export {
  createResourceCache,
  type LookUp,
  type ResourceCache,
  type ResourceCacheBounds,
  instantOf,
  resourceOf,
  type ResourceRow,
  sessionOf,
  type SessionRow,
} from './rows.js'
export { COLUMN, hasPrefix, joined, ORDER_OPERATOR, sqlTag, type Sql, type SqlTag } from './sql.js'
