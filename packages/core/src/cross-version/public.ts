export type { ElementsOfRelease, OtherElement, ReleaseElements } from './elements.js'
export { otherRelease, type OtherRelease } from './other-release.js'
export { releaseElements, type ReleaseElementsOptions } from './release-elements.js'
