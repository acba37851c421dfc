export { languageTags } from './language-tags/language-tags.js'
export { mediaTypes } from './media-types/media-types.js'
export { registryDefinitions } from './registry-definitions.js'
export type { RegistryFile } from './registry-definitions.js'
