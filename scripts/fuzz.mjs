// `npm run fuzz [-- --inputs N] [--seed S] [target]`: generated requests and inputs of every parser, 1,000,000 of each by default.
import { parseArgs } from 'node:util'
import { step } from './steps.mjs'

const { values, positionals } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
  allowPositionals: true,
})
console.log(`${values.inputs} inputs, seed ${values.seed}; the same again: npm run fuzz -- --inputs ${values.inputs} --seed ${values.seed}`)
const target = positionals.flatMap((name) => ['-t', name])
const command = [
  'vitest',
  'run',
  '--config',
  'vitest.workspace.ts',
  '--project',
  '@fhir-ops/conformance',
  'fuzz/fuzz',
  '--testTimeout=0',
  ...target,
]
process.exit(step('Fuzz', command, { FHIR_OPS_ROUNDS: values.inputs, FHIR_OPS_SEED: values.seed }) ? 0 : 1)
