export { distancesFrom } from './distances.js'
export { fold, foldLetters } from './fold.js'
export { didYouMean, nearest, otherCase } from './nearest.js'
