export { openDependencies, type OpenDependency } from './open-dependencies.js'
export { packageLayer } from './package-layer.js'
export { readPackage, type FhirPackage, type PackageFile, type PackageManifest, type ReadPackageOptions } from './read-package.js'
