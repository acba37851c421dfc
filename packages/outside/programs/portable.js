// Each package that needs web standards only, and what it answers.
import { createContext } from 'fhir-ops/context'
import { lookup } from 'fhir-ops/lookup'
import { memoryConceptStore, memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { evaluateCql, literalText } from '@fhir-ops/cql'
import { createTranslator } from '@fhir-ops/cql/translator'
import { crossVersion } from '@fhir-ops/cross-version'
import { createHandler } from '@fhir-ops/handler'
import { listedSystem, loinc, rxnorm, storeConcepts } from '@fhir-ops/loinc-rxnorm'
import { createMcpHandler } from '@fhir-ops/mcp'
import { loadR4 } from '@fhir-ops/r4'
import { languageTags, mediaTypes } from '@fhir-ops/registries'
import subtags from '@fhir-ops/registries/subtags.json' with { type: 'json' }
import { snomed } from '@fhir-ops/snomed'
import { parseEcl } from '@fhir-ops/snomed/ecl'

const said = []
const COLOURS = 'http://example.org/fhir/CodeSystem/colours'
const concepts = memoryConceptStore()
await storeConcepts(concepts, { resourceType: 'CodeSystem', url: COLOURS, version: '1', status: 'active', content: 'complete' }, [
  { code: 'red', display: 'Red' },
])
const release = await loadR4()
const context = createContext({
  ...release,
  storage: memoryStorage(),
  concepts,
  codeSystems: [
    languageTags({ bytes: new TextEncoder().encode(JSON.stringify(subtags)) }),
    mediaTypes(),
    snomed(),
    loinc(),
    rxnorm(),
    listedSystem({ url: COLOURS, name: 'Colours' }),
  ],
  crossVersion: crossVersion({ releases: [] }),
})
const sessions = createSessions({ store: memorySessionStore() })
const { token } = await sessions.create({ user: 'me', scopes: ['openid', 'system/*.cruds'] })
const baseUrl = 'http://service.example'
const handler = createHandler({ context, sessions, baseUrl, defaultPolicy: 'deny' })
const mcp = createMcpHandler({ handler, context, baseUrl })
const post = (path, body) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return new Request(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

const { display: language } = await lookup(context, { system: 'urn:ietf:bcp:47', code: 'de-AT' })
said.push(['registries', language])
const { display: colour } = await lookup(context, { system: COLOURS, code: 'red' })
said.push(['loinc-rxnorm', colour])
said.push(['snomed', parseEcl('<< 73211009 |Diabetes mellitus|').kind])
const { values } = await evaluateCql(
  context,
  { expression: 'Interval[1, 5] overlaps Interval[4, 9]' },
  { translator: await createTranslator() },
)
said.push(['cql', literalText(values.get('return'))])
const stored = await handler(post('/fhir/R4/Patient', { resourceType: 'Patient' }))
said.push(['handler', stored.status])
// The handler loads the validator by its first call, while this module waits at its top.
const validated = await handler(post('/fhir/R4/Patient/$validate', { resourceType: 'Patient', nmae: [] }))
said.push(['fhir-ops', (await validated.json()).issue[0].expression[0]])
const tools = await mcp(post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }))
said.push(['mcp', (await tools.json()).result.tools.length])
console.log(said.map((words) => words.join(' ')).join('\n'))
