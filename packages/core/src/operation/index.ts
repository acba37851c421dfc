export type { Operation, OperationRequest, OperationResponse } from './operation.js'
