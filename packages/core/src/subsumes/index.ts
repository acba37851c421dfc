export { subsumesOperation } from './operation.js'
export { subsumes, type SubsumesInput, type SubsumptionOutcome } from './subsumes.js'
