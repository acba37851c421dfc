export { translate } from './translate.js'
export { toParameters, type TranslateResult, type TranslateMatch } from './result.js'
export type { TranslateInput } from './input.js'
