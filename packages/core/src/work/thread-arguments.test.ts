import { expect, test } from 'vitest'
import { threadArguments } from './index.js'

const host = (versions: Readonly<Record<string, string>>): Parameters<typeof threadArguments>[0] => ({
  versions,
  getBuiltinModule: () => ({
    createRequire: (from: string) => ({ resolve: (name: string) => `${from}/${name}.cjs` }),
    pathToFileURL: (path: string) => new URL(`file://${path}`),
  }),
})

test('a thread has arguments of its own only where Yarn keeps packages in archives', () => {
  expect(threadArguments(host({ node: '24.0.0' }), '/a')).toEqual([])
  const hooks = ['--require', '/a/pnpapi.cjs', '--experimental-loader', 'file:///a/pnpapi.loader.mjs']
  expect(threadArguments(host({ node: '24.0.0', pnp: '3' }), '/a')).toEqual(hooks)
})
