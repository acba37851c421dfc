export { typeModelOf } from './type-table.js'
