export { openDependencies } from './open-dependencies.js'
export { packageLayer, readPackage, type FhirPackage } from './read-package.js'
