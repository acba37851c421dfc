export { crossVersionLayer } from './cross-version-layer.js'
export { extensionElement, type ExtensionElement } from './extension-url.js'
export { otherRelease, type OtherElement, type OtherRelease, type ReleaseElements } from './other-release.js'
export { releaseElements, type ReleaseElementsOptions } from './release-elements.js'
