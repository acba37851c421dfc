// Runs a program in a Worker, bundled as Cloudflare's tools do it and without `nodejs_compat`, and prints what it writes.
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

const [, , file] = process.argv
const { outputFiles } = await build({
  stdin: { contents: workerOf(readFileSync(file, 'utf8')), resolveDir: dirname(file) },
  bundle: true,
  write: false,
  outdir: join(dirname(file), 'worker'),
  format: 'esm',
  target: 'esnext',
  conditions: ['workerd', 'worker', 'browser'],
  loader: { '.bin': 'copy' },
  logLevel: 'error',
})
const modules = outputFiles.map(({ path, contents }) => ({
  type: path.endsWith('.js') ? 'ESModule' : 'Data',
  path: basename(path),
  contents,
}))
const runtime = new Miniflare({
  modules: modules.toSorted((a) => (a.type === 'ESModule' ? -1 : 1)),
  modulesRoot: '/',
  compatibilityDate: '2026-07-01',
})
console.log(await (await runtime.dispatchFetch('http://worker.example/')).text())
await runtime.dispose()

/** A Worker may not wait for anything outside of a request, so the statements go into one; imports are lines at the beginning. */
function workerOf(program) {
  const lines = program.split('\n')
  const isImport = (line) => line.startsWith('import ')
  return `${lines.filter(isImport).join('\n')}
export default {
  async fetch() {
    const written = []
    const console = { log: (...values) => written.push(values.join(' ')) }
    try {
      ${lines.filter((line) => !isImport(line)).join('\n')}
    } catch (error) {
      written.push(error.stack)
    }
    return new Response(written.join('\\n'))
  },
}`
}
