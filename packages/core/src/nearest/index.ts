export { didYouMean, distanceOf, nearest, otherCase } from './nearest.js'
