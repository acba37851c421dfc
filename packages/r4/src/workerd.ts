import bytes from './r4.bin'
import { loadedFrom, toAwait, type R4Source } from './load-r4.js'
import type { Release, ReleaseOptions } from './release.js'

export { r4, r4Definitions, r4SearchParameters, r4TypeModel } from './r4.js'
export { releaseOf, type Release, type ReleaseFiles, type ReleaseOptions } from './release.js'
export type { R4Source } from './load-r4.js'

/** `loadR4` for workerd, which has no address from which to fetch the file: Cloudflare's tools make it a module of the Worker, like every `.bin`. */
export function loadR4(source: R4Source = bytes, options: ReleaseOptions = {}): Promise<Release> {
  return toAwait(loadedFrom(source, options))
}
