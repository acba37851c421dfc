export { openDependencies, type OpenDependency } from './open-dependencies.js'
export {
  packageLayer,
  readPackage,
  type FhirPackage,
  type PackageFile,
  type PackageManifest,
  type ReadPackageOptions,
} from './read-package.js'
