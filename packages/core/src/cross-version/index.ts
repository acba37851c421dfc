export { extensionElement, type ExtensionElement, otherRelease, type OtherRelease } from './other-release.js'
export { type OtherElement, type ReleaseElements, releaseElements } from './release-elements.js'
