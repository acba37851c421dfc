#!/usr/bin/env node
import { keepCompiledCode, runtimeProblem, startWithModestAllocator } from './runtime.js'

if (process.argv[2] === 'serve') startWithModestAllocator()

/** Commands whose exit status is an answer, so they finish even if nobody reads the rest of the output. */
const answersByStatus = ['validate', 'ig'].includes(process.argv[2] ?? '') && !process.argv.includes('--watch')

// If a reader such as `head` has closed the pipe, that is not a failure, and there is nobody left to write to.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' && answersByStatus) return
  if (error.code !== 'EPIPE') process.stderr.write(`error: cannot write to standard output (${error.code}).\n`)
  process.exit(error.code === 'EPIPE' ? process.exitCode : 1)
})

// A command that did its work does not fail because its messages are not read.
process.stderr.on('error', () => undefined)

const problem = runtimeProblem(process.versions.node)
if (problem === undefined) {
  keepCompiledCode()
  // Loaded only now, because importing node:sqlite fails on older Node versions.
  const { run } = await import('./program.js')
  process.exitCode = await run(process.argv.slice(2))
} else {
  process.stderr.write(`error: ${problem}\n`)
  process.exitCode = 1
}
