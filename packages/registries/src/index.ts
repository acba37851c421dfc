export { languageTags } from './language-tags/language-tags.js'
export { mediaTypes } from './media-types/media-types.js'
export { registries, uris } from './registries.js'
export { registryDefinitions, type RegistryFile } from './registry-definitions.js'
