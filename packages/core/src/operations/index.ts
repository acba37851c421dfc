// Descriptors of all operations. Their engines are loaded at the first call, so code that mounts all operations imports only this file.
export { closureOperation } from '../closure/operation.js'
export { compareOperation } from '../compare/operation.js'
export { expandOperation } from '../expand/operation.js'
export { lookupOperation } from '../lookup/operation.js'
export { measureOperations } from '../evaluate/measure-operations.js'
export { snapshotOperation } from '../snapshot/operation.js'
export { subsumesOperation } from '../subsumes/operation.js'
export { terminologyCapabilities } from '../terminology/capabilities.js'
export { translateOperation } from '../translate/operation.js'
export { validateOperation } from '../validate/operation.js'
export {
  codeSystemBatchValidateCodeOperation,
  codeSystemValidateCodeOperation,
  valueSetBatchValidateCodeOperation,
  valueSetValidateCodeOperation,
} from '../validate-code/operations.js'
