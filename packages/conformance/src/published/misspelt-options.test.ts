import { createServer } from 'node:http'
import { readdirSync, readFileSync } from 'node:fs'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { cqlChecker, cqlLanguage, cqlOperations, evaluateCql } from '@fhir-ops/cql'
import { evaluateInThreads, openWorkerTranslator } from '@fhir-ops/cql/node'
import { createTranslator } from '@fhir-ops/cql/translator'
import { crossVersion } from '@fhir-ops/cross-version'
import { createHandler, introspectionVerifier, jwtVerifier, logoutTokenVerifier } from '@fhir-ops/handler'
import { configureServer } from '@fhir-ops/handler/node'
import { delegated, httpStorage } from '@fhir-ops/http'
import { listedSystem } from '@fhir-ops/loinc-rxnorm'
import { importLoinc, importRxnorm } from '@fhir-ops/loinc-rxnorm/import'
import { openPostgres, openPostgresToFill } from '@fhir-ops/postgres'
import { loadR4, r4, releaseOf } from '@fhir-ops/r4'
import { languageTags, registryDefinitions } from '@fhir-ops/registries'
import { importSnomed } from '@fhir-ops/snomed/import'
import { openSqlite, openSqliteToFill, sqliteStorage } from '@fhir-ops/sqlite'
import { packLayer } from 'fhir-ops/content'
import { createCache, createContext } from 'fhir-ops/context'
import { releaseElements } from 'fhir-ops/cross-version'
import {
  collectData,
  createLiveMeasure,
  dataRequirements,
  evaluateMeasureOperation,
  evaluateMeasure,
  evaluateMeasurePart,
  mergeMeasureParts,
  measureOperations,
  watchMeasure,
} from 'fhir-ops/evaluate'
import { openAuditStore, createSessions } from 'fhir-ops/sessions'
import { createMcpHandler, createMcpServer } from '@fhir-ops/mcp'
import { botResponse, createBots } from 'fhir-ops/execute'
import { compileFhirPath } from 'fhir-ops/fhirpath'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { readPackage } from 'fhir-ops/packages'
import { createIndexer, searchParameters } from 'fhir-ops/search'
import { terminologyCapabilities } from 'fhir-ops/terminology'
import { toOperationOutcome } from 'fhir-ops/validate'
import { expect, test } from 'vitest'
import { workspacePackages } from '../../../../scripts/packages.mjs'

/** Parameters before the options, and options that are complete, where some are needed. */
interface Row {
  readonly make: (...args: never[]) => unknown
  readonly before?: readonly unknown[]
  readonly options?: object
}

const storage = memoryStorage()
const store = memorySessionStore()
const context = createContext({ storage })
const sessions = createSessions({ store })
const progress = (): void => {}
const issuer = { issuer: 'https://issuer.example.org', audience: 'here' }
const capabilities = { url: 'http://x', version: '1', name: 'X', title: 'X', date: '2026-01-01', base: 'http://x' }

/** Every published function that takes options. */
const TABLE: Readonly<Record<string, Row>> = {
  openAuditStore: { make: openAuditStore, options: { storage, indexer: () => [], onFailure: progress } },
  botResponse: { make: botResponse },
  openBotSandbox: { make: openBotSandbox },
  compileFhirPath: { make: compileFhirPath, before: ['true'] },
  collectData: { make: collectData, before: [context, { measure: 'm', periodStart: '2026', periodEnd: '2026' }] },
  configureServer: { make: configureServer, before: [createServer()] },
  createBots: { make: createBots },
  createCache: { make: createCache },
  createContext: { make: createContext, options: { storage } },
  cqlChecker: { make: cqlChecker, options: { translator: { translate: () => {} } } },
  cqlLanguage: { make: cqlLanguage },
  cqlOperations: { make: cqlOperations },
  evaluateMeasureOperation: { make: evaluateMeasureOperation },
  createHandler: { make: createHandler, options: { context, sessions, baseUrl: 'http://x', defaultPolicy: 'deny' } },
  createIndexer: { make: createIndexer, before: [{}] },
  createLiveMeasure: { make: createLiveMeasure, before: [context, { measure: 'm', periodStart: '2026', periodEnd: '2026' }] },
  createMcpHandler: { make: createMcpHandler, options: { context, handler: () => {}, baseUrl: 'http://x' } },
  createMcpServer: { make: createMcpServer, options: { context, handler: () => {}, baseUrl: 'http://x' } },
  createSessions: { make: createSessions, options: { store } },
  createTranslator: { make: createTranslator },
  openWorkerTranslator: { make: openWorkerTranslator },
  crossVersion: { make: crossVersion },
  dataRequirements: { make: dataRequirements, before: [context, { library: {} }] },
  delegated: { make: delegated, before: [[]], options: { baseUrl: 'https://x', delegate: [] } },
  evaluateCql: { make: evaluateCql, before: [context, { expression: '1' }] },
  evaluateMeasure: { make: evaluateMeasure, before: [context, { measure: 'm', periodStart: '2026', periodEnd: '2026' }] },
  evaluateMeasurePart: {
    make: evaluateMeasurePart,
    before: [context, { measure: 'm', periodStart: '2026', periodEnd: '2026' }, { part: 1, of: 2 }],
  },
  evaluateInThreads: {
    make: evaluateInThreads,
    before: [context, { measure: 'm', periodStart: '2026', periodEnd: '2026' }],
    options: { threads: 2, module: 'file:///m.js' },
  },
  mergeMeasureParts: { make: mergeMeasureParts, before: [context, { measure: 'm', periodStart: '2026', periodEnd: '2026' }, []] },
  httpStorage: { make: httpStorage, options: { baseUrl: 'https://x' } },
  importLoinc: { make: importLoinc, before: [{}, 'Loinc_2.82'], options: { progress } },
  importRxnorm: { make: importRxnorm, before: [{}, 'RxNorm_full_11032025'], options: { progress } },
  importSnomed: { make: importSnomed, before: [{}, 'x'], options: { progress } },
  introspectionVerifier: {
    make: introspectionVerifier,
    options: { ...issuer, endpoint: 'https://issuer.example.org/i', clientId: 'a', clientSecret: 'b' },
  },
  jwtVerifier: { make: jwtVerifier, options: { ...issuer, jwksUri: 'https://issuer.example.org/keys' } },
  languageTags: { make: languageTags },
  listedSystem: { make: listedSystem, options: { url: 'http://x', name: 'X' } },
  loadR4: { make: loadR4, before: [undefined] },
  logoutTokenVerifier: { make: logoutTokenVerifier, options: { ...issuer, jwksUri: 'https://issuer.example.org/keys' } },
  measureOperations: { make: measureOperations },
  memoryStorage: { make: memoryStorage, before: [[]] },
  openPostgres: { make: openPostgres, before: [{ connect: progress, on: progress, end: progress }] },
  openPostgresToFill: { make: openPostgresToFill, before: [{ connect: progress, on: progress, end: progress }] },
  openSqlite: { make: openSqlite, before: ['never-opened.db'] },
  openSqliteToFill: { make: openSqliteToFill, before: ['never-opened.db'] },
  packLayer: { make: packLayer, before: [new Uint8Array(), 'x'] },
  r4: { make: r4 },
  readPackage: { make: readPackage, before: [new Blob([]).stream()] },
  registryDefinitions: { make: registryDefinitions },
  releaseElements: { make: releaseElements, before: [[]], options: { release: '5.0', source: 'x' } },
  releaseOf: { make: releaseOf, before: [{}] },
  searchParameters: { make: searchParameters, before: [[], {}] },
  sqliteStorage: { make: sqliteStorage, before: [{}] },
  terminologyCapabilities: { make: terminologyCapabilities, options: capabilities },
  toOperationOutcome: { make: toOperationOutcome, before: [{ valid: true, findings: [] }] },
  watchMeasure: { make: watchMeasure, before: [context, { measure: 'm', periodStart: '2026', periodEnd: '2026' }] },
}

/** Which function the message names, where it is another one. */
const SAYS: Readonly<Record<string, string>> = {
  releaseOf: 'r4',
  loadR4: 'r4',
  measureOperations: 'evaluateMeasureOperation',
  openSqliteToFill: 'openSqlite',
  watchMeasure: 'createLiveMeasure',
}

/** Published functions whose parameter of that kind is not a set of options: what a request or a search is narrowed by. */
const OTHERS: readonly string[] = ['forRequest', 'parseSearch', 'createEvaluation', 'compileLibrary']

test.each(Object.entries(TABLE))('%s refuses a misspelt option by name', async (name, { make, before = [], options = {} }) => {
  const refused = async (): Promise<unknown> => await Reflect.apply(make, undefined, [...before, { ...options, misspelt: true }])
  await expect(refused()).rejects.toThrow(TypeError)
  await expect(refused()).rejects.toThrow(`${SAYS[name] ?? name}: there is no option 'misspelt'.`)
})

/** Packages that test their own, or take nothing of core by which options are checked. */
const OF_ITSELF: ReadonlySet<string> = new Set(['@fhir-ops/testing', '@fhir-ops/playground'])

test('the table has every published function that takes options', () => {
  const published = new Set(
    [...readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name),
  )
  const takers = workspacePackages()
    .filter(({ manifest }) => manifest.private !== true && !OF_ITSELF.has(manifest.name))
    .flatMap(({ dir }) => sourcesIn(`${dir}/src`))
    .flatMap((text) => [...text.matchAll(/^export (?:async )?function\*? (\w+)\(([\s\S]*?)\): /gm)])
    .filter(([, name, parameters = '']) => published.has(name) && /(Options|Timeouts|ListedSystem|Bounds|RegistryFile)\b/.test(parameters))
    .map(([, name]) => name)
  expect(new Set(takers)).toEqual(new Set([...Object.keys(TABLE), ...OTHERS]))
})

function sourcesIn(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(`${dir}/${file}`, 'utf8'))
}
