export { translate } from './translate.js'
export { toParameters, type TranslateResult, type TranslateMatch, type TranslateProduct, type TranslationForm } from './result.js'
export type { TranslateInput, TranslateOptions, TranslateDependency } from './input.js'
