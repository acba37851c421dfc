export { compileRegex, type LinearRegex } from './linear-regex.js'
export type { RegexOptions } from './parse.js'
export { replaceAll } from './replace-all.js'
