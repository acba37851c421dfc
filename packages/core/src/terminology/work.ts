export { finished, mapped, paced, sharedWork, type Work } from '../work/index.js'
