import { describe, expect, test } from 'vitest'
import { createContext, forRequest } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

const ctx = createContext({ storage: memoryStorage(), ...r4() })

async function errors(resource: string): Promise<readonly string[]> {
  const { findings } = await validate(ctx, { resource })
  return findings.filter(({ severity }) => severity === 'error').map(({ kind, expression }) => `${kind} ${expression}`)
}

describe('characters that no write accepts are errors at their element', () => {
  test.each([
    [
      'an unpaired surrogate in a string',
      '{"resourceType":"Patient","name":[{"family":"\\ud800"}]}',
      'string-encoding Patient.name[0].family',
    ],
    ['U+0000 in a string', '{"resourceType":"Patient","name":[{"family":"a\\u0000b"}]}', 'string-encoding Patient.name[0].family'],
    ['in a code', '{"resourceType":"Patient","language":"d\\udc00"}', 'string-encoding Patient.language'],
    ['in a uri', '{"resourceType":"Patient","implicitRules":"urn:x:\\u0000"}', 'string-encoding Patient.implicitRules'],
    [
      'in a narrative',
      '{"resourceType":"Patient","text":{"status":"generated","div":"<div xmlns=\\"http://www.w3.org/1999/xhtml\\">a\\ud800</div>"}}',
      'string-encoding Patient.text.div',
    ],
    ['in a list', '{"resourceType":"Patient","name":[{"given":["x","\\udfff\\ud800"]}]}', 'string-encoding Patient.name[0].given[1]'],
  ])('%s', async (_, resource, expected) => {
    expect(await errors(resource)).toContain(expected)
  })

  test('paired surrogates are characters', async () => {
    expect(await errors('{"resourceType":"Patient","name":[{"family":"\\ud83d\\ude00"}]}')).toEqual([])
  })
})

describe('what JSON does not have is placed at what it is about', () => {
  test.each([
    ['a comment, at the next value', '{"resourceType":"Patient",\n// a\n"active":true}', 'json-comment Patient.active'],
    ['after a comma', '{"resourceType":"Patient","active":true, // a\n"gender":"male"}', 'json-comment Patient.gender'],
    ['at the last value', '{"resourceType":"Patient","name":[{"family":"x" // a\n}]}', 'json-comment Patient.name[0].family'],
    ['at the next item', '{"resourceType":"Patient","name":[{"text":"x"},/* a */{"text":"y"}]}', 'json-comment Patient.name[1]'],
    ['at a list of values', '{"resourceType":"Patient","name":[{"given":["x", // a\n"y"]}]}', 'json-comment Patient.name[0].given'],
    ['before all', '// a\n{"resourceType":"Patient","active":true}', 'json-comment Patient'],
    ['a superfluous comma, at the list', '{"resourceType":"Patient","name":[{"text":"x"},]}', 'json-comma Patient.name'],
    ['or at the object', '{"resourceType":"Patient","name":[{"text":"x",}]}', 'json-comma Patient.name[0]'],
    ['a missing comma, at the next item', '{"resourceType":"Patient","name":[{"text":"x"} {"text":"y"}]}', 'json-comma Patient.name[1]'],
  ])('%s', async (_, resource, expected) => {
    expect(await errors(resource)).toEqual([expected])
  })
})

test.each(['# fhir', 'fhir', '  resourceType: Patient'])(
  'a text that is not JSON at all is placed at its first character: %j',
  async (resource) => {
    const { findings } = await validate(ctx, { resource, places: true })
    expect(findings).toMatchObject([{ kind: 'json-fatal', line: 1, column: 1 + resource.search(/\S/) }])
  },
)

test('a caller who has gone gets no answer, however short the validation', async () => {
  const gone = forRequest(ctx, { signal: AbortSignal.abort() })
  await expect(validate(gone, { resource: '{"resourceType":"Patient"}' })).rejects.toMatchObject({ code: 'aborted' })
  await expect(validate(gone, { resource: '{"resourceType":"Patient"}', checks: 'structure' })).rejects.toMatchObject({ code: 'aborted' })
})
