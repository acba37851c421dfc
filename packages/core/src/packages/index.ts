export {
  isRelease,
  openDependencies,
  type OpenDependency,
  packageFiles,
  packageLayer,
  readManifest,
  readPackage,
  type FhirPackage,
  type PackageFile,
  type PackageManifest,
  type ReadPackageOptions,
  type TarFile,
} from './read-package.js'
