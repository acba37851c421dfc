// Runs the command line of a clone, once it is built.
import { existsSync } from 'node:fs'

const main = new URL('../packages/cli/dist/main.js', import.meta.url)
if (existsSync(main)) await import(main.href)
else {
  console.error('error: fhir-ops is not built yet; `npm run setup` does that.')
  process.exitCode = 1
}
