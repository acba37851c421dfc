import { relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'

/** What a page that calls one function loads of the built package, minified and compressed. What the function loads on demand is not counted. */
async function pageBytes(entry: string, name: string): Promise<number> {
  const file = builtFile(`packages/core/dist/${entry}/public.js`)
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export { ${name} } from '${file}'`, resolveDir: '/' },
    bundle: true,
    splitting: true,
    outdir: '/page',
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['browser', 'module', 'main'],
    conditions: ['browser', 'import', 'default'],
  })
  const loaded = new Set(Object.keys(metafile.outputs).filter((path) => metafile.outputs[path]?.entryPoint === '<stdin>'))
  for (const path of loaded)
    for (const { kind, path: imported } of metafile.outputs[path]?.imports ?? []) if (kind === 'import-statement') loaded.add(imported)
  const files = outputFiles.filter(({ path }) => loaded.has(relative(process.cwd(), path)))
  expect(files).toHaveLength(loaded.size)
  return files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0)
}

const CALLS = [
  ['errors', 'OperationError', 1_000],
  ['hl7v2', 'parseHl7', 4_000],
  ['translate', 'translate', 12_000],
  ['lookup', 'lookup', 22_000],
  ['expand', 'expand', 35_000],
  ['validate-code', 'validateCode', 38_000],
] as const

test.each(CALLS)('a page that bundles %s { %s } takes nothing of what it does not call', async (entry, name, most) => {
  expect(await pageBytes(entry, name)).toBeLessThanOrEqual(most)
})
