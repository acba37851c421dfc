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
} from './read-package.js'
export type { TarFile } from './tar-files.js'
