export { finished, paced, sharedWork, type Breaks, type Work } from './work.js'
