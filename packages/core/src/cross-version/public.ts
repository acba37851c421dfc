export type { ReleaseElements } from './elements.js'
export { otherRelease, type OtherRelease } from './other-release.js'
export { releaseElements } from './release-elements.js'
