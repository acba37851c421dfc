export { after, attempt, attemptTo, isPending, type Awaitable } from './awaitable.js'
export { onDemand } from './on-demand.js'
export { finished, mapped, sharedWork, type Work } from './work.js'
