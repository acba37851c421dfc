export type { Operation, OperationHeader, OperationRequest, OperationResponse } from './operation.js'
export { storedInstance } from './stored-instance.js'
