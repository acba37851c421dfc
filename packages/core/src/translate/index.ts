export { toParameters, type TranslateMatch, type TranslateProduct, type TranslateResult, type TranslationForm } from './result.js'
export { translate } from './translate.js'
export type { TranslateDependency, TranslateInput, TranslateOptions } from './input.js'
