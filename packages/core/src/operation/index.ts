export type { Operation, OperationHeader, OperationRequest, OperationResponse } from './operation.js'
