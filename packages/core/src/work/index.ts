export { finished, mapped, sharedWork, type Work } from './work.js'
