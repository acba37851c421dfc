export type { Operation, OperationRequest, OperationResponse, Action } from './operation.js'
export type { Parameter } from '../parameters/parameters.js'
