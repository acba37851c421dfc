import { defineConfig } from 'tsup'
import { tsupConfig } from '../../scripts/tsup-config.mjs'

export default defineConfig(tsupConfig())
