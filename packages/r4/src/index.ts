export { loadR4, type R4Source } from './load-r4.js'
export { r4, r4Definitions, r4SearchParameters, r4TypeModel } from './r4.js'
export { releaseOf, type Release, type ReleaseFiles, type ReleaseOptions } from './release.js'
