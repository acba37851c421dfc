export { didYouMean, nearest, otherCase } from './nearest.js'
