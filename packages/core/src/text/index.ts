export { distancesFrom, didYouMean, nearest, otherCase } from './nearest.js'
export { fold, foldLetters } from './fold.js'
export { choiceName, TYPE_URL } from './type-names.js'
export { decodeUtf8, decodingUtf8, joinedBytes, utf8Length } from './utf8.js'
