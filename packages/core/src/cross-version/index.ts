export { extensionElement, type ExtensionElement } from './extension-url.js'
export type { OtherElement, ReleaseElements } from './elements.js'
export { otherRelease, type OtherRelease } from './other-release.js'
export { releaseElements } from './release-elements.js'
