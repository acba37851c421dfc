import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { createContext } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { memoryStorage } from 'fhir-ops/memory'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { loadR4, r4, r4TypeModel, type R4Source } from './index.js'

const packed = new Uint8Array(readFileSync(new URL('../dist/r4.bin', import.meta.url)))
const GENDER = { url: 'http://hl7.org/fhir/ValueSet/administrative-gender', filter: 'fem' }

afterEach(() => {
  vi.unstubAllGlobals()
})

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}

/** The runtime as the package sees it. */
function runtime(versions: Readonly<Record<string, string>>): void {
  vi.stubGlobal('process', { versions })
}

describe('loadR4', () => {
  test.each<[string, () => R4Source | undefined]>([
    ['the files of the package', () => undefined],
    ['bytes', () => packed],
    ['bytes that threads share', () => shared(packed)],
    ['a buffer', () => packed.buffer],
    ['bytes that are decompressed already', () => new Uint8Array(gunzipSync(packed))],
    ['what fetch gave', () => new Response(packed)],
    ['an address', () => `data:application/octet-stream;base64,${Buffer.from(packed).toString('base64')}`],
  ])('reads R4 from %s', async (_, source) => {
    const ctx = createContext({ storage: memoryStorage(), ...(await loadR4(source())) })
    expect((await expand(ctx, GENDER)).contains).toMatchObject([{ code: 'female', display: 'Female' }])
  })

  test('knows the same search parameters and types as r4', async () => {
    const [loaded, read] = [await loadR4(packed), r4()]
    expect(loaded.search.parameters.of('Patient').length).toBe(read.search.parameters.of('Patient').length)
    expect(loaded.types.type('Patient')?.members.size).toBe(read.types.type('Patient')?.members.size)
  })

  test.each<[string, R4Source, string]>([
    ['another file', new TextEncoder().encode('<!doctype html>'), 'r4.bin'],
    ['the answer that there is none', new Response('', { status: 404 }), 'HTTP status 404'],
    ['an address where nothing is', 'http://127.0.0.1:1/r4.bin', 'could not be loaded from http://127.0.0.1:1/r4.bin'],
    ['a Blob', new Blob(['fhir-ops']), 'loadR4: the source must be the address of r4.bin, a response of fetch, or bytes.'],
    [
      'the options of r4 as source',
      JSON.parse('{"words":true}'),
      'loadR4: the source must be the address of r4.bin, a response of fetch, or bytes.',
    ],
  ])('refuses %s', async (_, source, message) => {
    await expect(loadR4(source)).rejects.toThrow(TypeError)
    await expect(loadR4(source)).rejects.toThrow(message)
  })
})

describe('spread into options before it is there', () => {
  test.each<[string, object, string]>([
    ['loadR4 that is not called', loadR4, 'createContext: loadR4 was not called. Use { ...(await loadR4()) }.'],
    ['loadR4() that is not awaited', loadR4(packed), 'createContext: loadR4() was not awaited. Use { ...(await loadR4()) }.'],
    ['r4 that is not called', r4, 'createContext: r4 was not called. Use { ...r4() }.'],
  ])('%s is refused by name', (_, spread, message) => {
    expect(() => createContext(Object.assign({ storage: memoryStorage() }, spread))).toThrow(new TypeError(message))
  })
})

describe('where the files cannot be read', () => {
  test('r4 says so, and names what works there', () => {
    vi.stubGlobal('process', undefined)
    expect(() => r4()).toThrow('r4() reads files, and this runtime has no file system. Use await loadR4() of @fhir-ops/r4 instead.')
    expect(() => r4TypeModel()).toThrow('r4TypeModel() reads files')
  })

  test('r4 says so in a bundle, next to which the files are not', () => {
    const fails = (): never => {
      throw Object.assign(new Error('ENOENT: no such file or directory'), { code: 'ENOENT' })
    }
    const files = { openSync: fails, readFileSync: fails }
    vi.stubGlobal('process', { versions: { node: '24.0.0' }, getBuiltinModule: () => files })
    const sentence =
      'The files of @fhir-ops/r4 are not next to its code. Leave the package out of the bundle, as an external one; in a clone, build it.'
    for (const read of [r4, r4TypeModel]) expect(() => read()).toThrow(new TypeError(sentence))
  })

  test.each(['20.19.0', '22.12.0'])('Node %s is refused by its number', async (node) => {
    runtime({ node })
    const sentence = `fhir-ops needs Node 22.13 or later, and this is ${node}.`
    expect(() => r4()).toThrow(sentence)
    await expect(loadR4(packed)).rejects.toThrow(sentence)
  })

  test('other runtimes are not measured by the Node that they imitate', async () => {
    runtime({ node: '20.0.0', bun: '1.4.5' })
    await expect(loadR4(packed)).resolves.toBeDefined()
  })
})
