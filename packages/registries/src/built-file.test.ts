import { afterEach, expect, test, vi } from 'vitest'
import { languageTags, registryDefinitions } from './index.js'

afterEach(() => {
  vi.unstubAllGlobals()
})

test.each<[string, () => unknown, string]>([
  ['registryDefinitions', registryDefinitions, 'registries.pack'],
  ['languageTags', languageTags, 'subtags.json'],
])('%s says what to give it where there are no files', (name, make, file) => {
  vi.stubGlobal('process', undefined)
  expect(make).toThrow(
    new TypeError(
      `${name}() reads a file, and this runtime has no file system. Use ${name}({ bytes }) with those of @fhir-ops/registries/${file} instead.`,
    ),
  )
})
