// Each package that needs files, threads or a server; a line for each with what it answers.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { PGlite } from '@electric-sql/pglite'
import { createContext } from 'fhir-ops/context'
import { createBots, execute } from 'fhir-ops/execute'
import { lookup } from 'fhir-ops/lookup'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { botSchemas } from '@fhir-ops/bot-sandbox/schemas'
import { openWorkerTranslator } from '@fhir-ops/cql/node'
import { crossVersion } from '@fhir-ops/cross-version'
import { toNodeListener } from '@fhir-ops/handler/node'
import { importLoinc } from '@fhir-ops/loinc-rxnorm/import'
import { createPlayground } from '@fhir-ops/playground'
import { openPostgres, pglitePool } from '@fhir-ops/postgres'
import { r4 } from '@fhir-ops/r4'
import { registries, registryDefinitions } from '@fhir-ops/registries'
import { unitsOfMeasure } from '@fhir-ops/registries/ucum'
import * as releases from '@fhir-ops/releases'
import { importSnomed } from '@fhir-ops/snomed/import'
import * as sql from '@fhir-ops/sql'
import { patient, testService } from '@fhir-ops/testing'

const code = 'export const handler = (event) => event.input.toUpperCase()'
const runtime = openBotSandbox()
const bots = createBots({ runtime, schemas: botSchemas() })
const ctx = {
  ...createContext({ storage: memoryStorage([{ resourceType: 'Bot', id: 'shout', code }]), ...r4(), crossVersion: crossVersion() }),
  bots,
}
console.log('bot-sandbox', (await execute(ctx, { bot: { id: 'shout' }, input: 'hello' })).value)
await runtime.close()

const countries = createContext({ storage: memoryStorage(), definitions: [registryDefinitions()], codeSystems: registries() })
console.log('registries', (await lookup(countries, { system: 'urn:iso:std:iso:3166', code: 'AT' })).display)

const triggered = { url: 'http://hl7.org/fhir/5.0/StructureDefinition/extension-Observation.triggeredBy' }
const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, extension: [triggered] }
const { findings } = await validate(ctx, { resource: observation })
console.log(
  'cross-version',
  findings
    .map(({ text }) => text)
    .join()
    .includes("Slice 'observation'"),
)

const translator = openWorkerTranslator({ timeoutMs: 30_000 })
const { elm } = await translator.translate('define A: 1 + 1')
console.log('cql', elm.library.statements.def[0].name)
await translator.close()

const lite = new PGlite()
const database = await openPostgres(pglitePool(lite), { notify: false, allowLossyCommits: true })
const write = { op: 'put', type: 'Basic', id: 'b', text: '{"resourceType":"Basic","id":"b","meta":{}}', entries: [] }
await database.storage.write([write])
console.log('postgres', (await database.storage.read('Basic', 'b')).versionId)
await database.close()
await lite.close()

const service = await testService({ resources: [patient()] })
const stored = await service.client.read('Patient', 'lovell')
console.log('testing', stored.name[0].family)
const [page, listener] = [createPlayground(), toNodeListener(service.handler)]
const server = createServer((message, response) => page(message, response) || listener(message, response))
await once(server.listen(0, '127.0.0.1'), 'listening')
const base = `http://127.0.0.1:${server.address().port}`
console.log('playground', (await (await fetch(base)).text()).includes('playground'))
console.log('handler', (await fetch(`${base}/fhir/R4/metadata`)).status)
server.closeAllConnections()
server.close()
await service.close()

console.log('others', [importLoinc, importSnomed, unitsOfMeasure, sql.sqlTag, releases.csvRows].map((one) => typeof one).join(' '))
