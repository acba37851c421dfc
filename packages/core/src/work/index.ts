export { after, attempt, withFinally, isPending, onDemand, type Awaitable } from './awaitable.js'
export { threadArguments } from './thread-arguments.js'
export { finished, mapped, sharedWork, type Work } from './work.js'
