export { openDependencies } from './open-dependencies.js'
export { packageLayer, readPackage, type FhirPackage, type ReadPackageOptions } from './read-package.js'
