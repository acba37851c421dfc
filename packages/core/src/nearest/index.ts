export { didYouMean, nearest } from './nearest.js'
