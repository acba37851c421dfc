export { compare, toParameters, type CompareInput, type CompareResult } from './compare.js'
