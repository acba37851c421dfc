export { distancesFrom } from './distances.js'
export { fold, foldLetters } from './fold.js'
export { didYouMean, nearest, otherCase } from './nearest.js'
export { choiceName, TYPE_URL } from './type-names.js'
