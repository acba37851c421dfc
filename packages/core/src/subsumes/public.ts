export { subsumes, toParameters, type SubsumesInput, type SubsumesResult } from './subsumes.js'
