import { r4TypeModel } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { afterAll, describe, expect, it } from 'vitest'
import { evaluateCql } from '../src/index.js'
import type { openWorkerTranslator as Open } from '../src/node/index.js'

// The build, since a thread needs a file; typed as the sources are.
const { openWorkerTranslator }: { readonly openWorkerTranslator: typeof Open } = await import(
  new URL('../dist/node/index.js', import.meta.url).href
)

const translator = openWorkerTranslator({ timeoutMs: 2500 })
afterAll(() => translator.close())

const library = (expression: string): string => `library T version '1'\ndefine X: ${expression}`

describe('the translator in a thread', () => {
  it('a text that takes too long fails alone: what waits for it is translated', async () => {
    await translator.translate(library('1'))
    const deep = `${'{'.repeat(490)}1${'}'.repeat(490)}`
    const slow = translator.translate(library(Array.from({ length: 100 }, (_, index) => `${deep}\ndefine Y${index}: `).join('') + '1'))
    const [refused, translated] = await Promise.allSettled([slow, translator.translate(library('2'))])
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'too-costly' } })
    expect(translated).toMatchObject({ status: 'fulfilled', value: { problems: [] } })
  })

  it('takes no more memory for the last of many texts than for the first', async () => {
    const small = openWorkerTranslator({ maxMemory: 40, timeoutMs: 60_000 })
    for (let n = 0; n < 60; n++) expect((await small.translate(library(`${n}`))).problems).toEqual([])
    await small.close()
  })

  it('loads FHIR when it is told to be ready, or else before the time of the first text that uses it begins', async () => {
    const model = r4TypeModel()
    const own = openWorkerTranslator({ model })
    const start = performance.now()
    await own.ready()
    const loading = performance.now() - start
    const began = process.cpuUsage()
    await own.ready()
    const { user, system } = process.cpuUsage(began)
    expect(user + system).toBeLessThan(500_000)
    const ctx = createContext({ storage: memoryStorage(), types: model })
    const { values } = await evaluateCql(ctx, { expression: 'Count(({ 1, 2 }) N where N > 1)' }, { translator: own })
    await own.close()
    expect(values.get('return')).toBe(1)
    // Half of what loading takes, also on a busy machine, is several times what the text takes.
    const quick = openWorkerTranslator({ model, timeoutMs: Math.ceil(loading / 2) })
    const text =
      "library T version '1' using FHIR version '4.0.1' include FHIRHelpers version '4.0.1' context Patient define X: Patient.active"
    expect((await quick.translate(text)).problems).toEqual([])
    await quick.close()
  })

  it('uses the models that it is given, up to 5 million characters', async () => {
    const text = library('null as Clinic.Reading').replace('define', "using Clinic version '1'\ndefine")
    const model =
      '<modelInfo name="Clinic" version="1" url="http://x" xmlns="urn:hl7-org:elm-modelinfo:r1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">' +
      '<requiredModelInfo name="System" version="1.0.0"/><typeInfo xsi:type="ClassInfo" namespace="Clinic" name="Reading" baseType="System.Any"/></modelInfo>'
    const problemsOf = async (models?: ReadonlyMap<string, string>): Promise<readonly string[]> =>
      (await translator.translate(text, new Map(), models)).problems.map(({ message }) => message)
    expect(await problemsOf(new Map([['Clinic', model]]))).toEqual([])
    expect(await problemsOf()).not.toEqual([])
    await expect(problemsOf(new Map([['Clinic', model + ' '.repeat(5_000_000)]]))).rejects.toMatchObject({ code: 'too-costly' })
  })
})
