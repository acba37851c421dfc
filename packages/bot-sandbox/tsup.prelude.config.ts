import { defineConfig } from 'tsup'

// What is put into every realm before its snapshot: a script without imports.
export default defineConfig({
  entry: { index: 'src/prelude/index.ts' },
  outDir: 'dist/prelude',
  // The root paths lead to the sources of fhir-ops, of which only what the prelude uses is taken.
  tsconfig: '../../tsconfig.json',
  format: ['iife'],
  globalName: 'prelude',
  target: 'es2023',
  platform: 'neutral',
  splitting: false,
  minify: true,
  noExternal: [/.*/],
  outExtension: () => ({ js: '.js' }),
})
