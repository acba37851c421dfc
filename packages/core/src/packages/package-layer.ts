import { packLayer, packOf, type ContentLayer } from '../content/index.js'
import type { FhirPackage } from './read-package.js'

/**
 * The definitions of a package as a layer of content, found by url and version. Several versions of a package may be layers side by side.
 * The package's name and version stand for its content in cache keys.
 */
export function packageLayer({ name, version, definitions }: FhirPackage): ContentLayer {
  return packLayer(packOf(definitions.map(({ text }) => text)), `${name}#${version}`)
}
