export { finished, mapped, paced, sharedWork, type Breaks, type Work } from './work.js'
