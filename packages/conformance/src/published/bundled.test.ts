import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'

/** What a page that calls one function loads of the built package, minified and compressed. */
async function pageBytes(entry: string, name: string): Promise<number> {
  const file = builtFile(`packages/core/dist/${entry}/public.js`)
  const { outputFiles } = await build({
    stdin: { contents: `export { ${name} } from '${file}'`, resolveDir: '/' },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['browser', 'module', 'main'],
    conditions: ['browser', 'import', 'default'],
  })
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0)
}

const CALLS = [
  ['errors', 'OperationError', 1_000],
  ['hl7v2', 'parseHl7', 4_000],
  ['translate', 'translate', 12_000],
  ['lookup', 'lookup', 20_000],
  ['expand', 'expand', 36_000],
  ['validate-code', 'validateCode', 39_000],
] as const

test.each(CALLS)('a page that bundles %s { %s } takes nothing of what it does not call', async (entry, name, most) => {
  expect(await pageBytes(entry, name)).toBeLessThanOrEqual(most)
})
