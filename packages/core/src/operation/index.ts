export {
  storedInstance,
  TERMINOLOGY_NEEDS,
  type Action,
  type Operation,
  type OperationHeader,
  type OperationNeeds,
  type OperationRequest,
  type OperationResponse,
  type WrittenResponse,
} from './operation.js'
