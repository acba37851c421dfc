#!/usr/bin/env node
import { runtimeProblem } from './runtime-problem.js'

const problem = runtimeProblem(process.versions.node)
if (problem === undefined) {
  // Loaded only now, because an older Node fails at the first import of node:sqlite.
  const { run } = await import('./program.js')
  process.exitCode = await run(process.argv.slice(2))
} else {
  process.stderr.write(`error: ${problem}\n`)
  process.exitCode = 1
}
