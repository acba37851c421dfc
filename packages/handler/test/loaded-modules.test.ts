import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { builtFile } from '../../../test/built.js'

/** Prints the files that importing a module loads, with their bytes. */
const LOADED = `
  import { readFileSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  import { fileURLToPath } from 'node:url'
  const loaded = []
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) loaded.push([url, readFileSync(fileURLToPath(url), 'utf8')])
      return next(url, context)
    },
  })
  const before = process.moduleLoadList.length
  await import(process.argv[1])
  const ofNode = process.moduleLoadList.slice(before)
  const wide = loaded.filter(([, text]) => /[^\\0-\\xff]/.test(text)).map(([url]) => url)
  process.stdout.write(JSON.stringify({ wide, modules: loaded.length, bytes: loaded.reduce((sum, [, text]) => sum + text.length, 0), ofNode, names: loaded.map(([url]) => url) }))`

interface Loaded {
  readonly modules: number
  readonly bytes: number
  readonly ofNode: readonly string[]
  readonly names: readonly string[]
  /** Those that V8 keeps in two bytes per character. */
  readonly wide: readonly string[]
}

async function loadedBy(entry: string): Promise<Loaded> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', LOADED, entry])
  const loaded: Loaded = JSON.parse(stdout)
  return loaded
}

test('importing the handler loads the layers of core by themselves, and neither the engines of operations nor libraries for tokens and hashes', async () => {
  const { modules, bytes, names, ofNode } = await loadedBy(builtFile('packages/handler/dist/index.js'))
  expect(modules).toBeLessThanOrEqual(10)
  expect(bytes).toBeLessThanOrEqual(1_000_000)
  expect(names.filter((name) => /layers\/(?:codes|measures|terminology|validate)/.test(name))).toEqual([])
  expect(names.filter((name) => /\/(?:jose|@noble)\//.test(name))).toEqual([])
  expect(ofNode).not.toContain('NativeModule crypto')
})

test('importing what serves a handler in node:http loads neither HTTP/2 nor a client', async () => {
  const { modules, ofNode } = await loadedBy(builtFile('packages/handler/dist/node/index.js'))
  expect(modules).toBeLessThanOrEqual(12)
  expect(ofNode.filter((name) => /http2|undici/.test(name))).toEqual([])
})

test('no file of the handler and the validator has a character that makes V8 keep it in two bytes per character', async () => {
  const loaded = await Promise.all(
    ['packages/handler/dist/index.js', 'packages/core/dist/validate/public.js'].map((file) => loadedBy(builtFile(file))),
  )
  expect(loaded.flatMap(({ wide }) => wide)).toEqual([])
})
