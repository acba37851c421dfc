export { after, attempt, withFinally, isPending, onDemand, type Awaitable } from './awaitable.js'
export { finished, mapped, sharedWork, type Work } from './work.js'
