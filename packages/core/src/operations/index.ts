// What is known of every operation before its first call, which loads its engine: who mounts them all imports this file alone.
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
