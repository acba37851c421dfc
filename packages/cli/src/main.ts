#!/usr/bin/env node
import { keepCompiledCode, runtimeProblem, startWithModestAllocator } from './runtime.js'

if (process.argv[2] === 'serve') startWithModestAllocator()

/** Commands whose exit status is an answer, which they find out also when nobody reads the rest. */
const answersByStatus = ['validate', 'ig'].includes(process.argv[2] ?? '') && !process.argv.includes('--watch')

// A reader such as `head` that has seen enough is not a failure, and there is nobody left to write to.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' && answersByStatus) return
  if (error.code !== 'EPIPE') process.stderr.write(`error: cannot write to standard output (${error.code}).\n`)
  process.exit(error.code === 'EPIPE' ? process.exitCode : 1)
})

// A command whose work is done does not fail because its messages are not read.
process.stderr.on('error', () => undefined)

const problem = runtimeProblem(process.versions.node)
if (problem === undefined) {
  keepCompiledCode()
  // Loaded only now, because an older Node fails at the first import of node:sqlite.
  const { run } = await import('./program.js')
  process.exitCode = await run(process.argv.slice(2))
} else {
  process.stderr.write(`error: ${problem}\n`)
  process.exitCode = 1
}
