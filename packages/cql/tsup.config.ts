import { defineConfig } from 'tsup'
import { tsupConfig } from '../../scripts/tsup-config.mjs'

// The threads that translate and that evaluate are files of their own.
export default defineConfig(tsupConfig(['src/node/worker.ts', 'src/node/measure-thread.ts']))
