export { translateOperation } from './operation.js'
export { translate } from './translate.js'
export type { TranslateDependency, TranslateInput, TranslateMatch, TranslateProduct, TranslateResult } from './translation.js'
