import { defineConfig } from 'tsup'
import { tsupConfig } from '../../scripts/tsup-config.mjs'

// The worker that translates is a file of its own.
export default defineConfig(tsupConfig(['src/node/worker.ts']))
