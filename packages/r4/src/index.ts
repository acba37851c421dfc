export { r4, type Release, type ReleaseOptions } from './release.js'
export { r4Definitions } from './definitions.js'
export { r4SearchParameters } from './search-parameters.js'
export { r4TypeModel } from './type-model.js'
