export { otherRelease, type OtherRelease } from './other-release.js'
export { releaseElements } from './release-elements.js'
