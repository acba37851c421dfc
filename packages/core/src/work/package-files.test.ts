import { expect, test } from 'vitest'
import { packageFileProblem, threadArguments } from './index.js'

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

test.each([
  ['ENOENT', "ENOENT: no such file or directory, open '/x/tables.json'", /not next to its code/],
  ['ERR_INVALID_URL', 'Invalid URL', /Leave the package out of the bundle/],
  ['ENOENT', 'ENOENT: process.cwd failed with error no such file or directory, uv_cwd', /current folder of the process was removed/],
  ['ERR_WORKER_INIT_FAILED', 'Worker initialization failure: EMFILE', /too many open files/],
  ['ERR_INVALID_PACKAGE_CONFIG', 'Cannot read package config /x/package.json: too many open files.', /too many open files/],
  ['ERR_WORKER_OUT_OF_MEMORY', 'Worker terminated due to reaching memory limit', /^none$/],
])('a file of a package that cannot be used (%s, %s) says why', (code, message, words) => {
  expect(packageFileProblem(Object.assign(new Error(message), { code }), '@fhir-ops/r4') ?? 'none').toMatch(words)
})
