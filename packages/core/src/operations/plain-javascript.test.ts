import { describe, expect, test } from 'vitest'
import { closure } from '../closure/index.js'
import { compare } from '../compare/index.js'
import { packLayer, packOf, storageLayer } from '../content/index.js'
import { createCache, createContext, forRequest } from '../context/index.js'
import { evaluateMeasure, watchMeasure } from '../evaluate/index.js'
import { createBots, execute } from '../execute/index.js'
import { expand, expandStream, toValueSet } from '../expand/index.js'
import { compileFhirPath } from '../fhirpath/index.js'
import { parseHl7 } from '../hl7v2/index.js'
import { lookup } from '../lookup/index.js'
import { memorySessionStore, memoryStorage } from '../memory/index.js'
import { openDependencies, packageLayer, readPackage } from '../packages/index.js'
import { createIndexer, parseSearch } from '../search/index.js'
import { createSessions, toAuditEvent } from '../sessions/index.js'
import { putResource } from '../storage/index.js'
import { generateSnapshot } from '../snapshot/index.js'
import { subsumes } from '../subsumes/index.js'
import { observedStorage } from '../telemetry/index.js'
import { tenantSessionStore, tenantStorage } from '../tenants/tenant-storage.js'
import { translate } from '../translate/index.js'
import { convertUnit } from '../ucum/index.js'
import { validate } from '../validate/index.js'
import { toParameters as validateCodeParameters, validateCodeInSystem, validateCode } from '../validate-code/index.js'

const storage = memoryStorage()
const ctx = { ...createContext({ storage }), bots: createBots({ hostBots: [{ id: 'b', run: () => 'done' }] }) }
const sessions = createSessions({ store: memorySessionStore() })

/** Calls a function as plain JavaScript does, which no type holds back. */
const call = (run: (...args: never[]) => unknown, ...args: readonly unknown[]): unknown => Reflect.apply(run, undefined, [...args])

const coding = { system: 's', code: 'c' }
const endless: { self?: unknown } = {}
endless.self = endless

/** A list whose first place has no item. */
function withHole(item: unknown): unknown[] {
  const list: unknown[] = []
  list[1] = item
  return list
}

const RULES = 'rules must be an object with Maps from urls to versions: force, check, fallback, valueSets'

describe('what plain JavaScript gives wrong is refused by name', () => {
  test.each<[string, (...args: never[]) => unknown, unknown, string, string]>([
    ['expand nothing', expand, undefined, 'parameter-required', 'The input must be an object.'],
    ['expand a text', expand, 'http://x', 'parameter-required', 'The input must be an object.'],
    ['expand a url that is none', expand, { url: 5 }, 'parameter-value', 'url must be a text.'],
    [
      'expand so many that is not a number',
      expand,
      { url: 'u', count: 'x' },
      'parameter-value',
      'count must be a whole number, 0 or more.',
    ],
    ['expand so many as text', expand, { url: 'u', count: '2' }, 'parameter-value', 'count must be a whole number, 0 or more.'],
    ['expand less than nothing', expand, { url: 'u', offset: -1 }, 'parameter-value', 'offset must be a whole number, 0 or more.'],
    ['expand by a flag as text', expand, { url: 'u', activeOnly: 'false' }, 'parameter-value', 'activeOnly must be true or false.'],
    [
      'expand by a misspelt member',
      expand,
      { url: 'u', cuont: 2 },
      'parameter-unsupported',
      "There is no member 'cuont' in the input: it has ",
    ],
    [
      'expand by an inherited name',
      expand,
      { url: 'u', constructor: 2 },
      'parameter-unsupported',
      "There is no member 'constructor' in the input: it has ",
    ],
    [
      'expand one property',
      expand,
      { url: 'u', properties: 'x' },
      'parameter-value',
      'properties must be a list, with a text in each place.',
    ],
    ['expand by rules with an unknown map', expand, { url: 'u', rules: { forced: new Map() } }, 'parameter-value', RULES],
    ['look up by rules that are texts', lookup, { ...coding, rules: { check: 's|1' } }, 'parameter-value', RULES],
    ['compare codes by rules that are a list', subsumes, { codeA: 'a', codeB: 'b', system: 's', rules: [] }, 'parameter-value', RULES],
    ['validate a code by rules without maps', validateCodeInSystem, { ...coding, rules: { force: {} } }, 'parameter-value', RULES],
    ['translate nothing', translate, undefined, 'parameter-required', 'The input must be an object.'],
    ['translate a number', translate, { url: 'u', coding: { system: 's', code: 5 } }, 'parameter-value', 'coding must be a coding.'],
    ['look up without code', lookup, { system: 's' }, 'parameter-required', "'system' is given without 'code'."],
    ['look up a coding without code', lookup, { coding: { system: 's' } }, 'parameter-required', 'The concept must be named'],
    ['look up a concept', lookup, { codeableConcept: {} }, 'parameter-unsupported', "'codeableConcept'"],
    ['look up a code in two ways', lookup, { coding, code: 'c' }, 'source-ambiguous', '(code, coding)'],
    ['validate a code that is not a coding', validateCode, { url: 'u', coding: 'c' }, 'parameter-value', 'coding must be a coding.'],
    ['validate a bare code', validateCode, { url: 'u', code: 'c' }, 'parameter-required', 'Unable to find code to validate'],
    ['validate with a system alone', validateCode, { url: 'u', system: 's' }, 'parameter-required', "'system' is given without 'code'."],
    ['validate a code in two ways', validateCode, { url: 'u', coding, code: 'c' }, 'source-ambiguous', '(code, coding)'],
    [
      'validate a concept without codings in a list',
      validateCode,
      { url: 'u', codeableConcept: { coding } },
      'parameter-value',
      'codeableConcept must be a CodeableConcept.',
    ],
    ['validate in two value sets', validateCode, { coding, url: 'u', valueSet: {} }, 'parameter-invalid', 'only one of url and valueSet'],
    ['validate in no value set', validateCode, { coding }, 'parameter-required', 'A value set must be named'],
    [
      'expand what is no value set',
      expand,
      { valueSet: { resourceType: 'CodeSystem' } },
      'parameter-value',
      'valueSet must be a ValueSet.',
    ],
    [
      'validate in what is no value set',
      validateCode,
      { coding, valueSet: { resourceType: 'Patient' } },
      'parameter-value',
      'valueSet must be a ValueSet.',
    ],
    [
      'look up in what is no code system',
      lookup,
      { coding, codeSystem: { resourceType: 'Patient' } },
      'parameter-value',
      'codeSystem must be a CodeSystem.',
    ],
    ['expand two value sets', expand, { url: 'u', valueSet: {} }, 'parameter-invalid', 'only one of url and valueSet'],
    ['expand no value set', expand, {}, 'parameter-required', 'A value set must be named'],
    [
      'validate in a code system without url',
      validateCodeInSystem,
      { ...coding, codeSystem: { resourceType: 'CodeSystem', concept: [{ code: 'c' }] } },
      'parameter-invalid',
      'The CodeSystem that is given has no url',
    ],
    [
      'validate in the promise of a code system',
      validateCodeInSystem,
      { ...coding, codeSystem: Promise.resolve({}) },
      'parameter-invalid',
      'The CodeSystem that is given has no url',
    ],
    [
      'validate in another code system than that of the url',
      validateCodeInSystem,
      { code: 'c', url: 's', codeSystem: { url: 'other' } },
      'parameter-invalid',
      "The url is 's', and that of the CodeSystem that is given is 'other'.",
    ],
    ['validate no code', validateCodeInSystem, { url: 'u' }, 'parameter-required', 'Unable to find code to validate'],
    [
      'validate a code that is a number',
      validateCodeInSystem,
      { coding: { ...coding, code: 5 } },
      'parameter-value',
      'coding must be a coding.',
    ],
    ['ask what null is below', subsumes, { system: 's', codeA: 'a', codeB: null }, 'parameter-value', 'codeB must be a text.'],
    ['ask what nothing is below', subsumes, { system: 's', codeA: 'a' }, 'parameter-required', 'Two codes and their system'],
    ['ask about a code in two ways', subsumes, { codeA: 'c', codingA: coding, codingB: coding }, 'source-ambiguous', '(codeA, codingA)'],
    [
      'compare with a text',
      compare,
      { thisValueSet: { url: 'u' }, otherValueSet: 'u' },
      'parameter-value',
      'otherValueSet must be an object',
    ],
    ['make a closure table without name', closure, {}, 'parameter-required', 'name is missing.'],
    ['validate a number', validate, { resource: 5 }, 'parameter-value', 'resource must be a JSON text or an object.'],
    [
      'validate by profile, not profiles',
      validate,
      { resource: {}, profile: 'u' },
      'parameter-unsupported',
      "There is no member 'profile' in the input: it has resource, profiles, ",
    ],
    ['evaluate without period', evaluateMeasure, { measure: 'm' }, 'parameter-required', 'periodStart is missing.'],
    [
      'evaluate with a misspelt period',
      evaluateMeasure,
      { measure: 'm', periodstart: '2026' },
      'parameter-unsupported',
      "There is no member 'periodstart' in the input: it has measure, periodStart, ",
    ],
    ['execute no bot', execute, { input: 5 }, 'parameter-required', 'bot is missing.'],
    [
      'execute on a promise',
      execute,
      { bot: { id: 'b' }, input: Promise.resolve(5) },
      'parameter-value',
      'input must be a value, not a promise of one.',
    ],
    ['execute a bot without address', execute, { bot: {}, input: 5 }, 'parameter-value', 'bot must be the address of a bot: { id }, or'],
    ['execute a bot whose id is a number', execute, { bot: { id: 5 }, input: 5 }, 'parameter-value', 'bot must be the address'],
    [
      'execute a bot by half an identifier',
      execute,
      { bot: { identifier: { system: 's' } }, input: 5 },
      'parameter-value',
      'bot must be the address',
    ],
    ['execute on a BigInt', execute, { bot: { id: 'b' }, input: 5n }, 'parameter-value', 'input must be a value that can be written'],
    ['execute on what contains itself', execute, { bot: { id: 'b' }, input: endless }, 'parameter-value', 'input must be a value that'],
    [
      'make the snapshot of what contains itself',
      generateSnapshot,
      { definition: endless },
      'definition-invalid',
      'nested deeper than 128',
    ],
    [
      'expand the properties of a list with a hole',
      expand,
      { url: 'u', properties: withHole('x') },
      'parameter-value',
      'properties must be a list',
    ],
    [
      'expand parts with a hole',
      expand,
      { valueSet: { compose: { include: withHole({ system: 's' }) } } },
      'definition-invalid',
      'The value set ',
    ],
    [
      'translate with a dependency of other members',
      translate,
      { url: 'u', coding, dependencies: [{ element: 'e', value: 'v' }] },
      'parameter-value',
      'dependencies must be a list, with a dependency (with element and concept) in each place.',
    ],
    [
      'validate with half a suppression',
      validate,
      { resource: {}, suppress: [{ code: 'x' }] },
      'parameter-value',
      'suppress must be a list, with a suppression in each place.',
    ],
  ])('%s', async (_, run, input, code, message) => {
    await expect(call(run, ctx, input)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
  })

  test.each<[string, (...args: never[]) => unknown]>([
    ['translate', translate],
    ['expand', expand],
    ['look up', lookup],
    ['validate in a value set', validateCode],
    ['validate in a code system', validateCodeInSystem],
    ['compare', compare],
    ['ask what subsumes', subsumes],
    ['make a closure table', closure],
    ['validate', validate],
    ['evaluate', evaluateMeasure],
    ['execute', execute],
    ['watch', async (...args: never[]) => call(watchMeasure, ...args)],
  ])('%s over a storage or nothing instead of a context', async (_, run) => {
    await expect(call(run, storage, {})).rejects.toMatchObject({ code: 'parameter-value', message: 'The context has no storage.' })
    await expect(call(run, undefined, {})).rejects.toMatchObject({ code: 'parameter-required', message: 'The context is missing.' })
  })

  test.each<[string, (...args: never[]) => unknown, unknown, string]>([
    ['an HL7 message as bytes', parseHl7, new Uint8Array(9), 'The message must be a text.'],
    ['no HL7 message', parseHl7, undefined, 'The message is missing.'],
    ['an expression as a list', compileFhirPath, ['name'], 'The expression must be a text.'],
    ['an amount instead of a unit', convertUnit, 5, 'convertUnit takes units as texts, such as mg.'],
    ['no event', toAuditEvent, undefined, 'The event is missing.'],
    ['the promise of a package', packageLayer, Promise.resolve(), 'The package is a promise that was not awaited.'],
    ['packages that are not in a list', openDependencies, { name: 'p' }, 'openDependencies: packages must be a list, with a package'],
    ['a pack that is a text', packLayer, 'text', 'packLayer: the pack must be bytes, or a function that reads them.'],
    ['definitions that are not texts', packOf, [{}], 'packOf: definitions must be a list, with a text in each place.'],
    ['a layer over nothing', storageLayer, undefined, 'The storage is missing.'],
    ['an indexer of a release', createIndexer, {}, 'The list of search parameters has no model.'],
    ['a tenant in the promise of a storage', tenantStorage, Promise.resolve(), 'The storage is a promise that was not awaited.'],
    ['a tenant in a storage of resources', tenantSessionStore, storage, 'The session store has no addSession.'],
    ['an observed storage that is missing', observedStorage, undefined, 'The storage is missing.'],
    ['a value set of a translation', toValueSet, { contains: [] }, 'the result of expand has no valueSet.'],
    ['an answer about a code without all its members', validateCodeParameters, { issues: [] }, 'has no unknownSystems.'],
    ['a package as bytes', readPackage, new Uint8Array(9), 'new Blob([bytes]).stream() makes one.'],
  ])('%s', async (_, read, given, message) => {
    await expect(async () => call(read, given)).rejects.toThrow(message)
  })

  test.each<[string, unknown[], string]>([
    ['no type', [], 'type is missing.'],
    ['its parameters first', [[['name', 'x']], 'Patient', { parameters: {} }], 'type must be a text.'],
    ['no options', ['Patient', []], 'options is missing.'],
    [
      'an object of parameters',
      ['Patient', { name: 'x' }, { parameters: {} }],
      'pairs is neither a list of names and values nor a text, of which new URLSearchParams makes pairs.',
    ],
  ])('a search with %s', async (_, args, message) => {
    await expect(async () => call(parseSearch, ...args)).rejects.toThrow(message)
  })

  test('a request with what has a signal takes it', () => {
    const controller = new AbortController()
    expect(forRequest(ctx, controller).signal).toBe(controller.signal)
  })

  test('a stream', async () => {
    const first = expandStream(ctx, JSON.parse('{"url":"u","count":"x"}')).next()
    await expect(first).rejects.toMatchObject({ code: 'parameter-value', expression: ['count'] })
  })

  test.each<[string, (...args: never[]) => unknown, unknown, string]>([
    ['a context of nothing', createContext, undefined, 'createContext: the options are missing.'],
    ['a context without storage', createContext, {}, 'createContext: the option storage is missing.'],
    [
      'a context over the promise of a storage',
      createContext,
      { storage: Promise.resolve(storage) },
      'storage is a promise that was not awaited.',
    ],
    [
      'a context over a database',
      createContext,
      { storage: { storage, sessions } },
      'storage must be a storage (an object with read, search, write).',
    ],
    [
      'definitions that are not a list',
      createContext,
      { storage, definitions: {} },
      'definitions must be a list, with a layer of definitions',
    ],
    [
      'a layer that is there on a condition',
      createContext,
      { storage, definitions: [false] },
      'definitions must be a list, with a layer of',
    ],
    [
      'a layer that was not awaited',
      createContext,
      { storage, definitions: [Promise.resolve()] },
      'definitions must be a list, with a layer of',
    ],
    [
      'a storage of one resource',
      memoryStorage,
      { resourceType: 'Patient', id: 'p' },
      'memoryStorage: resources must be a list of resources; those of a Bundle are bundle.entry.map(',
    ],
    [
      'a storage of the promise of resources',
      memoryStorage,
      Promise.resolve([]),
      'memoryStorage: resources is a promise that was not awaited.',
    ],
    [
      'sessions in a storage',
      createSessions,
      { store: storage },
      'store must be a session store (an object with addSession, session, user).',
    ],
    [
      'a limit that is not a number',
      createContext,
      { storage, limits: { maxExpansion: '9' } },
      'limits.maxExpansion must be a number, 0 or more.',
    ],
    [
      'a limit that is misspelt',
      createContext,
      { storage, limits: { maxExpansio: 9 } },
      "there is no option 'limits.maxExpansio'. Did you mean 'maxExpansion'?",
    ],
    ['sessions of nothing', createSessions, undefined, 'createSessions: the options are missing.'],
    ['a release that was not spread', createContext, { storage, release: { definitions: [] } }, 'spread it, { ...release }.'],
    ['a bot that is not a function', createBots, { hostBots: [{ id: 'a', run: 'x' }] }, 'hostBots must be a list, with a bot of the host'],
    ['a needed option in another case', createSessions, { Store: storage }, "there is no option 'Store'. Did you mean 'store'?"],
    ['a clock that counts', createContext, { storage, now: Date.now }, 'createContext: now must be a function that returns a Date.'],
    [
      'a suppression without a day',
      createContext,
      { storage, validation: { suppress: [{ id: 'x', reason: 'y', until: 'never' }] } },
      'needs a last day such as 2030-12-31',
    ],
    [
      'options that are a Map',
      createCache,
      new Map([['maxBytes', 5]]),
      'must be an object whose members are options, and is a value of Map.',
    ],
    [
      'options that were not awaited',
      createCache,
      Promise.resolve({}),
      'createCache: what is given as options is a promise that was not awaited.',
    ],
    [
      'limits that are a Map',
      createContext,
      { storage, limits: new Map() },
      'createContext: limits must be an object whose members are options',
    ],
    [
      'limits that were not awaited',
      createContext,
      { storage, limits: Promise.resolve({}) },
      'createContext: limits is a promise that was not',
    ],
    ['a cache without end', createCache, { maxBytes: Infinity }, 'createCache: maxBytes must be a whole number above 0.'],
    ['a cache without room', createCache, { maxEntries: 0 }, 'createCache: maxEntries must be a whole number above 0.'],
    ['a misspelt option of a storage', memoryStorage, [[], { histroy: false }], "there is no option 'histroy'. Did you mean 'history'?"],
  ])('%s', (_, make, options, message) => {
    const made = (): unknown => call(make, ...(Array.isArray(options) ? options : [options]))
    expect(made).toThrow(TypeError)
    expect(made).toThrow(message)
  })

  test.each<[string, unknown, string]>([
    ['a resource instead of what is to be put', { resourceType: 'Patient', id: 'p' }, 'type is missing.'],
    ['a resource to put without indexer', { type: 'Patient', id: 'p', source: { resourceType: 'Patient' } }, 'indexer is missing.'],
    ['nothing to put', undefined, 'put is missing.'],
    ['a type that is a number', { type: 5, id: 'p', source: {} }, 'type must be a text.'],
    ['an id that is a number', { type: 'Patient', id: 5, source: { resourceType: 'Patient' } }, 'id must be a text.'],
    ['a put without resource', { type: 'Patient', id: 'p' }, 'source is missing.'],
    ['a function to put', { type: 'Patient', id: 'p', source: () => ({}) }, 'The resource is not JSON.'],
    [
      'a resource with a BigInt',
      { type: 'Patient', id: 'p', source: { n: 5n } },
      'cannot be written as JSON: it contains a BigInt, or itself.',
    ],
    ['a resource that contains itself', { type: 'Patient', id: 'p', source: endless }, 'cannot be written as JSON'],
  ])('%s', (_, put, message) => {
    expect(() => call(putResource, put)).toThrow(
      expect.objectContaining({ name: 'OperationError', message: expect.stringContaining(message) }),
    )
  })

  test('a release instead of its indexer', () => {
    const put = { type: 'Patient', id: 'p', source: { resourceType: 'Patient' } }
    expect(() => call(putResource, put, {})).toThrow('indexer must be a function, such as r4().indexer.')
  })

  test('a session of nothing, and a token that is not a text', async () => {
    await expect(call(sessions.create)).rejects.toThrow(new TypeError('sessions.create: the options are missing.'))
    await expect(call(sessions.verify)).rejects.toMatchObject({ code: 'token-invalid' })
  })
})

test('what other libraries add to all objects is no member of an input', async () => {
  Object.defineProperty(Object.prototype, 'extend', { value: () => {}, enumerable: true, configurable: true, writable: true })
  try {
    await expect(lookup(ctx, { system: 'http://x', code: 'a' })).rejects.toMatchObject({ code: 'not-found' })
    expect((await execute(ctx, { bot: { id: 'b' }, input: {} })).value).toBe('done')
  } finally {
    Reflect.deleteProperty(Object.prototype, 'extend')
  }
})
