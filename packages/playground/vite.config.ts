import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

const FOLDER = join(import.meta.dirname, 'dist/page')
/** The pack of definitions is compressed already. */
const COMPRESSIBLE = /\.(?:js|css|svg)$/

/** Writes each part a second time, compressed, so that servers need not do it for each request. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  closeBundle() {
    const folder = join(FOLDER, 'assets')
    for (const name of readdirSync(folder).filter((file) => COMPRESSIBLE.test(file)))
      writeFileSync(join(folder, `${name}.gz`), gzipSync(readFileSync(join(folder, name)), { level: constants.Z_BEST_COMPRESSION }))
  },
}

// Paths in the page are relative, so that it works below any address.
export default defineConfig({
  root: join(import.meta.dirname, 'page'),
  base: './',
  worker: { format: 'es' },
  plugins: [compressed],
  build: {
    outDir: FOLDER,
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
