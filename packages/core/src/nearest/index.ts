export { distancesFrom } from './distances.js'
export { didYouMean, nearest, otherCase } from './nearest.js'
