export { after, attempt, withFinally, isPending, onDemand, type Awaitable } from './awaitable.js'
export { packageFileProblem, threadArguments } from './package-files.js'
export { finished, mapped, sharedWork, type Work } from './work.js'
