import { defineConfig } from 'tsup'
import { tsupConfig } from '../../scripts/tsup-config.mjs'

export default defineConfig(
  tsupConfig([
    'src/main.ts',
    'src/handler-server.ts',
    'src/bare-server.ts',
    'src/storage-server.ts',
    'src/first-answer.ts',
    'src/memory-probe.ts',
  ]),
)
