export { otherRelease, type OtherElement, type OtherRelease, type ReleaseElements } from './other-release.js'
export { releaseElements, type ReleaseElementsOptions } from './release-elements.js'
