export {
  engineOnDemand,
  isHidden,
  storedInstance,
  TERMINOLOGY_NEEDS,
  type Action,
  type LongText,
  type Operation,
  type OperationHeader,
  type OperationNeeds,
  type OperationRequest,
  type OperationResponse,
  type WrittenResponse,
} from './operation.js'
