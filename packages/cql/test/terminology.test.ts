import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { describe, expect, it } from 'vitest'
import { evaluateCql, literalText } from '../src/index.js'
import { translator } from './translator.fixture.js'

const ANIMALS = {
  resourceType: 'CodeSystem',
  id: 'animals',
  url: 'http://s/animals',
  status: 'active',
  content: 'complete',
  concept: [{ code: 'bird', concept: [{ code: 'owl' }, { code: 'wren' }] }, { code: 'cat' }],
}
const SOME = { ...ANIMALS, id: 'some', url: 'http://s/some', content: 'fragment' }
const BIRDS = {
  resourceType: 'ValueSet',
  id: 'birds',
  url: 'http://s/birds',
  status: 'active',
  compose: { include: [{ system: ANIMALS.url, filter: [{ property: 'concept', op: 'is-a', value: 'bird' }] }] },
}
const CATS = {
  resourceType: 'ValueSet',
  id: 'cats',
  url: 'http://s/cats',
  version: '2',
  status: 'active',
  compose: { include: [{ system: ANIMALS.url, concept: [{ code: 'cat' }] }] },
}
const HEAD = `library T
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
codesystem "Animals": '${ANIMALS.url}'
codesystem "Some": '${SOME.url}'
codesystem "Unknown": 'http://s/unknown'
codesystem "Second": '${ANIMALS.url}|2'
valueset "Birds": '${BIRDS.url}'
valueset "Cats": '${CATS.url}|2'
valueset "Later": '${CATS.url}|3'
code "Bird": 'bird' from "Animals"
code "Owl": 'owl' from "Animals"
code "Cat": 'cat' from "Animals"
code "Second Cat": 'cat' from "Second"
code "Stranger": 'x' from "Unknown"
context Patient
`

const { indexer, ...release } = r4()
const ctx = createContext({ ...release, storage: memoryStorage([ANIMALS, SOME, BIRDS, CATS], { indexer }) })

function valueOf(text: string): Promise<string | null> {
  return answerOf('text/cql', `${HEAD}define X: ${text}`)
}

async function answerOf(contentType: string, content: string): Promise<string | null> {
  const library = { resourceType: 'Library', content: [{ contentType, data: btoa(content) }] }
  const { values, failures } = await evaluateCql(ctx, { library, definitions: ['X'] }, { translator })
  const failed = failures.get('X')
  if (failed !== undefined) throw failed
  return literalText(values.get('X') ?? null)
}

describe('code systems and value sets in CQL', () => {
  it.each([
    [`Code { code: 'owl', system: '${ANIMALS.url}' } in "Animals"`, 'true'],
    [`Code { code: 'dog', system: '${ANIMALS.url}' } in "Animals"`, 'false'],
    [`Code { code: 'owl', system: 'http://s/other' } in "Animals"`, 'false'],
    ['\'cat\' in "Animals"', 'true'],
    [`Code { code: 'owl', system: '${SOME.url}' } in "Some"`, 'true'],
    ['"Owl" in "Birds"', 'true'],
    ['"Cat" in "Birds"', 'false'],
    ['Count("Birds")', '3'],
    ['"Cat" in "Cats"', 'true'],
    ['"Second Cat" in "Cats"', 'true'],
    ['"Second Cat" ~ "Cat"', 'true'],
    ['"Second Cat".version', "'2'"],
  ])('%s is %s', async (text, expected) => {
    expect(await valueOf(text)).toBe(expected)
  })

  it.each(['[Condition: "Flying"]', '[Condition: code in "Flying"]'])(
    '%s, where the name is a definition that gives the value set, is refused: the translator loses it',
    async (retrieve) => {
      const answer = answerOf('text/cql', `${HEAD}define "Flying": "Birds"\ndefine X: ${retrieve}`)
      await expect(answer).rejects.toThrow('name the value set in the retrieve')
    },
  )

  it.each([
    ['membership in a code system that does not exist', '"Stranger" in "Unknown"', 'definition-not-found'],
    ['membership in a version of a value set that does not exist', '"Cat" in "Later"', 'definition-not-found'],
    ['membership of an unknown code in a fragment of a code system', '\'dog\' in "Some"', 'unprocessable'],
  ])('%s is refused', async (_, text, code) => {
    await expect(valueOf(text)).rejects.toMatchObject({ code })
  })

  /** ELM has subsumption, for which CQL has no syntax: an equivalence of the same codes is renamed. */
  async function subsumption(type: string, left: string, right: string): Promise<string | null> {
    const { elm } = await translator.translate(`${HEAD}define X: ${left} ~ ${right}`)
    const renamed = JSON.stringify(elm).replaceAll('"Equivalent"', JSON.stringify(type))
    return await answerOf('application/elm+json', renamed)
  }

  it.each([
    ['Subsumes', '"Bird"', '"Owl"', 'true'],
    ['Subsumes', '"Owl"', '"Bird"', 'false'],
    ['Subsumes', '"Owl"', '"Owl"', 'true'],
    ['SubsumedBy', '"Owl"', '"Bird"', 'true'],
    ['SubsumedBy', '"Cat"', '"Bird"', 'false'],
    ['Subsumes', '"Bird"', '"Stranger"', 'false'],
    ['Subsumes', '"Bird"', 'null as Code', 'null'],
  ])('%s(%s, %s) is %s', async (type, left, right, expected) => {
    expect(await subsumption(type, left, right)).toBe(expected)
  })

  it.each([
    ['Subsumes("Bird", "Owl")', 'true'],
    ['"Cat".subsumedBy("Bird")', 'false'],
    ['Add(1, 2)', '3'],
    ['Start(Interval[1, 2])', '1'],
  ])('operators of the language are called by name: %s is %s', async (text, expected) => {
    expect(await valueOf(text)).toBe(expected)
  })

  it('a function of the library goes before an operator of that name', async () => {
    const text = `${HEAD}define function Subsumes(a Code, b Code): 'own'\ndefine X: Subsumes("Bird", "Owl")`
    expect(await answerOf('text/cql', text)).toBe("'own'")
  })

  it.each([
    ['of a code system that does not exist', '"Stranger"', '"Stranger"'],
    ['of an unknown code', '"Bird"', `Code { code: 'dog', system: '${ANIMALS.url}' }`],
  ])('subsumption %s is refused', async (_, left, right) => {
    await expect(subsumption('Subsumes', left, right)).rejects.toMatchObject({ code: 'unprocessable' })
  })
})
