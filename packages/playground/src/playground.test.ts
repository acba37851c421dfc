import { describe, expect, test } from 'vitest'
import { createPlayground } from './playground.js'

describe('options of createPlayground', () => {
  test.each<[string, unknown, string]>([
    ['that are misspelt', { fhirbase: 'fhir/R4' }, "createPlayground: there is no option 'fhirbase'. Did you mean 'fhirBase'?"],
    ['that are of another type', { fhirBase: 4 }, 'createPlayground: fhirBase must be a text.'],
    [
      'with a path that does not end with a slash',
      { path: '/try' },
      'createPlayground: path must be a path from a slash to a slash, such as /try/.',
    ],
    [
      'with an address as its path',
      { path: 'http://a.example/' },
      'createPlayground: path must be a path from a slash to a slash, such as /try/.',
    ],
    ['that are not an object', '/try/', 'createPlayground: the options must be an object.'],
  ])('%s are refused by name', (_, options, message) => {
    expect(() => Reflect.apply(createPlayground, undefined, [options])).toThrow(new TypeError(message))
  })
})
