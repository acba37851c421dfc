import { defineConfig } from 'tsup'
import { tsupConfig } from '../../scripts/tsup-config.mjs'

// Built against the packages that it uses; the editor and lint see their sources.
export default defineConfig({ ...tsupConfig(), tsconfig: '../../tsconfig.build.json' })
