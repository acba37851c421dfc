export { subsumesOperation } from './operation.js'
export { subsumes, type ExplainedSubsumption, type SubsumesInput, type SubsumptionOutcome } from './subsumes.js'
