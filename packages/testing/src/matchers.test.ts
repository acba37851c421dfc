import { expect as jestExpect } from 'expect'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  codeSystem,
  conceptMap,
  patient,
  testService,
  toBeValid,
  toContainCode,
  toTranslateTo,
  valueSet,
  type TestService,
} from './index.js'
import './vitest.js'

jestExpect.extend({ toBeValid, toContainCode, toTranslateTo })

const system = codeSystem().url
const url = conceptMap().url
const priorities = valueSet().url
const refusal = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'it passed', String)

let service: TestService
beforeAll(async () => {
  service = await testService({ resources: [codeSystem(), valueSet(), conceptMap()] })
})

describe('toBeValid', () => {
  test('takes a resource or its text, and options of validate', async () => {
    await expect(patient()).toBeValid(service)
    await expect(JSON.stringify(patient())).toBeValid(service.context)
    await expect({ ...patient(), gender: 'x' }).not.toBeValid(service)
    await expect({ ...patient(), gender: 'x' }).toBeValid(service, { checks: 'structure' })
  })

  test('says what is wrong and where', async () => {
    const message = await refusal(expect({ ...patient(), gender: 'x', nmae: [] }).toBeValid(service))
    expect(message).toContain('The resource is not valid:')
    expect(message).toContain('  Patient.gender: ')
    expect(message).toContain('  Patient.nmae: ')
    expect(await refusal(expect(patient()).not.toBeValid(service))).toContain('was expected not to be')
  })
})

describe('toTranslateTo', () => {
  test('finds a match by code, and by system and equivalence where they are given', async () => {
    const urgent = expect({ system, code: 'urgent' })
    await urgent.toTranslateTo(service, { code: 'UR' }, { url })
    await urgent.toTranslateTo(service, { code: 'UR', equivalence: 'equivalent' }, { url })
    await urgent.not.toTranslateTo(service, { code: 'UR', equivalence: 'wider' }, { url })
    await urgent.not.toTranslateTo(service, { code: 'UR', system }, { url })
    await urgent.not.toTranslateTo(service, { code: 'EM' }, { url })
  })

  test('says what was found instead', async () => {
    const message = await refusal(expect({ system, code: 'urgent' }).toTranslateTo(service, { code: 'EM' }, { url }))
    expect(message).toContain(
      'does not translate to {"code":"EM"}. Found: equivalent http://terminology.hl7.org/CodeSystem/v3-ActPriority|UR',
    )
    expect(await refusal(expect({ system, code: 'unplanned' }).toTranslateTo(service, { code: 'EM' }, { url }))).toContain('Found: ')
  })

  test('counts no match that says that there is no translation', async () => {
    const resource = conceptMap({
      url: 'http://example.org/none',
      group: [{ source: system, target: 'urn:t', element: [{ code: 'urgent', target: [{ code: 'X', equivalence: 'disjoint' }] }] }],
    })
    const options = { conceptMap: resource }
    await expect({ system, code: 'urgent' }).not.toTranslateTo(service, { code: 'X' }, options)
    await expect({ system, code: 'urgent' }).toTranslateTo(service, { code: 'X', equivalence: 'disjoint' }, options)
  })
})

describe('toContainCode', () => {
  test('takes a canonical or a value set', async () => {
    await expect(priorities).toContainCode(service, { system, code: 'urgent' })
    await expect(valueSet()).toContainCode(service, { system, code: 'emergency', display: 'Emergency' })
    await expect(priorities).not.toContainCode(service, { system, code: 'soon' })
    await expect(priorities).not.toContainCode(service, { system, code: 'urgent', display: 'Slow' })
  })

  test('says what the value set contains', async () => {
    const message = await refusal(expect(priorities).toContainCode(service, { system, code: 'soon' }))
    expect(message).toContain(`${priorities} does not contain ${system}|soon.`)
    expect(message).toContain(`It contains ${system}|planned, `)
  })
})

describe('misuse', () => {
  test.each<[string, () => Promise<unknown>, string]>([
    ['no context', () => expect(patient()).toBeValid(Object.create(null)), 'the first argument must be a context or a test service'],
    ['no resource', () => expect(5).toBeValid(service), 'takes a resource or its JSON text'],
    ['no code', () => expect('urgent').toTranslateTo(service, { code: 'x' }, { url }), 'a code is given as { system, code }'],
    ['no value set', () => expect(5).toContainCode(service, { system, code: 'x' }), 'takes the canonical of a value set or a ValueSet'],
    ['a map that is not there', () => expect({ system, code: 'x' }).toTranslateTo(service, { code: 'x' }, { url: 'urn:none' }), 'urn:none'],
  ])('%s is refused by name, whatever was expected', async (_, assert, message) => {
    expect(await refusal(assert())).toContain(message)
  })
})

test('the matchers work with the expect of Jest', async () => {
  const asserted = jestExpect.extend === undefined ? undefined : jestExpect
  expect(asserted).toBe(jestExpect)
  const matchers = jestExpect(patient())
  await expect(Reflect.apply(Reflect.get(matchers, 'toBeValid'), matchers, [service])).resolves.toBeUndefined()
  const failing = jestExpect({ ...patient(), gender: 'x' })
  await expect(Reflect.apply(Reflect.get(failing, 'toBeValid'), failing, [service])).rejects.toThrow('The resource is not valid')
})
