import { defineConfig } from 'tsup'
import { tsupConfig } from '../../scripts/tsup-config.mjs'

export default defineConfig(
  tsupConfig([
    'src/main.ts',
    'src/load/indexing-thread.ts',
    'src/measure-thread.ts',
    'src/checking-file-thread.ts',
    'src/validate/checking-thread.ts',
  ]),
)
