export { finished, paced, sharedWork, type Work } from '../work/index.js'
