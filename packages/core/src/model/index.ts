export { choiceName, typeModelOf } from './type-table.js'
