export { cursorOf, isAfter, orderTerms, readCursor, sortColumn, type KeyValue, type Position } from './keyset.js'
export { joined, sqlTag, type Sql, type SqlTag } from './sql.js'
export { textAfter } from './text-after.js'
