export { compileRegex, type LinearRegex, type SpendSteps } from './linear-regex.js'
export type { RegexOptions } from './parse.js'
export { replaceAll } from './replace-all.js'
