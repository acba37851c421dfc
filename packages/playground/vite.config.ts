import { join } from 'node:path'
import { defineConfig } from 'vite'

// Paths in the page are relative, so that it works below any address.
export default defineConfig({
  root: join(import.meta.dirname, 'page'),
  base: './',
  worker: { format: 'es' },
  build: {
    outDir: '../dist/page',
    emptyOutDir: true,
    target: 'es2023',
    sourcemap: true,
    // The translator of CQL is one large file, which is loaded when it is asked for.
    chunkSizeWarningLimit: 8_000,
    // A style or picture as a `data:` address is what the page's own policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
