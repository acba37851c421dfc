export { subsumes, toParameters, type SubsumesInput, type SubsumesOptions, type SubsumesResult } from './subsumes.js'
