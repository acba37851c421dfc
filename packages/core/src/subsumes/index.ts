export {
  subsumes,
  toParameters,
  type SubsumesInput,
  type SubsumesOptions,
  type SubsumesResult,
  type SubsumptionOutcome,
  type TwoCodes,
  type TwoCodings,
} from './subsumes.js'
