export { openDependencies, packageLayer, readPackage, type FhirPackage } from './read-package.js'
