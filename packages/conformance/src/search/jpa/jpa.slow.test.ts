import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createHandler } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import { sqliteStorage } from '@fhir-ops/sqlite'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { searchCodes } from 'fhir-ops/expand'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { putResource, type Storage } from 'fhir-ops/storage'
import { describe, expect, test } from 'vitest'
import type { Resource } from '../naive/values.js'
import { answerLine, type Answer } from './answer-line.js'
import { DECISIONS, type Difference } from './decisions.js'
import { WRITES, type Write } from './writes.js'

/** The address that resources and searches name the server by. */
const BASE = 'http://here.org/fhir/R4'

const fileOf = (name: string): string => fileURLToPath(new URL(`../../../search-oracle/${name}`, import.meta.url))
const linesIn = (name: string): readonly string[] => readFileSync(fileOf(name), 'utf8').trimEnd().split('\n')
const FILE = fileOf('facts.txt.gz')
const RESOURCES = linesIn('resources.ndjson').map((line): Resource => JSON.parse(line))
const IDS: ReadonlySet<string> = new Set(RESOURCES.map(({ resourceType, id }) => `${resourceType}/${id}`))
/** A command that starts HAPI's server, to ask it anew. */
const ORACLE = process.env['FHIR_OPS_SEARCH_ORACLE']

const PAGE = '_count=500'
const CALLS: readonly Write[] = [
  ...linesIn('searches.txt').map((search): Write => {
    const mark = search.includes('?') ? '&' : '?'
    return { method: 'GET', path: search.includes('_count=') ? search : `${search}${search.endsWith('?') ? '' : mark}${PAGE}` }
  }),
  ...WRITES,
]

describe('searches and conditional writes, and what HAPI answers to them', () => {
  test.runIf(ORACLE !== undefined)('are asked anew', async () => {
    const stored = RESOURCES.map((resource) => ({ method: 'PUT', path: `${resource.resourceType}/${resource.id}`, body: resource }))
    const answers = (await askedOracle(ORACLE ?? '', [...stored, { settle: true }, ...CALLS])).map((line): Answer => JSON.parse(line))
    expect(answers.slice(0, stored.length).filter(({ status }) => status >= 300)).toEqual([])
    const facts = CALLS.map((call, at) => [nameOf(call), lineOf(call, answers[stored.length + 1 + at] ?? { status: 0 })].join('\t'))
    writeFileSync(FILE, gzipSync(facts.join('\n'), { level: 9 }))
  })

  test.each<[string, Storage]>([
    ['memory', memoryStorage([])],
    ['SQLite', sqliteStorage(new DatabaseSync(':memory:'))],
  ])('differ over %s only where it has been decided', async (_, storage) => {
    const known = gunzipSync(readFileSync(FILE)).toString('utf8').split('\n')
    const differences = (await ourFacts(storage)).flatMap(([name, ours], at): readonly Difference[] => {
      const [search = '', theirs = ''] = known[at]?.split('\t') ?? []
      expect(search).toBe(name)
      return ours === theirs ? [] : [{ search, ours, theirs }]
    })
    const decided = differences.map((difference) => ({
      ...difference,
      decision: DECISIONS.find(({ explains }) => explains(difference))?.name ?? 'undecided',
    }))
    expect(decided.filter(({ decision }) => decision === 'undecided')).toEqual([])
    const used = new Set(decided.map(({ decision }) => decision))
    expect(DECISIONS.filter(({ name }) => !used.has(name))).toEqual([])
    const lines = decided.map(
      ({ decision, search, ours, theirs }) => `${[decision, search, `ours ${ours}`, `HAPI ${theirs}`].join('\t')}\n`,
    )
    await expect(lines.join('')).toMatchFileSnapshot('../../../search-oracle/differences.tsv')
  })
})

/** Our answers, in the order of the calls. */
async function ourFacts(storage: Storage): Promise<readonly (readonly [name: string, line: string])[]> {
  const release = r4({ base: BASE })
  await storage.write(
    RESOURCES.map((resource) => putResource({ type: resource.resourceType, id: resource.id, source: { ...resource } }, release.indexer)),
  )
  const context: OperationContext = createContext({
    ...release,
    storage,
    search: { ...release.search, codesOf: searchCodes(() => context) },
  })
  const handler = createHandler({
    context,
    sessions: createSessions({ store: memorySessionStore() }),
    indexer: release.indexer,
    baseUrl: new URL(BASE).origin,
    auth: 'off',
    defaultPolicy: 'deny',
  })
  const facts: (readonly [name: string, line: string])[] = []
  for (const call of CALLS) {
    const { method, path, type = 'application/fhir+json', ifNoneExist, body = null } = call
    const headers = { 'content-type': type, ...(ifNoneExist !== undefined && { 'if-none-exist': ifNoneExist }) }
    const response = await handler(new Request(`${BASE}/${path}`, { method, headers, body: body === null ? null : JSON.stringify(body) }))
    const answer = await response.text()
    facts.push([nameOf(call), lineOf(call, { status: response.status, body: answer === '' ? undefined : JSON.parse(answer) })])
  }
  await handler.close()
  await storage.close()
  return facts
}

/** The call in words; a percent sign that escapes nothing stays. */
function nameOf({ method, path, ifNoneExist }: Write): string {
  const shown = path.replace(new RegExp(`[?&]${PAGE}$`), '')
  const name = `${method === 'GET' ? '' : `${method} `}${shown}${ifNoneExist === undefined ? '' : ` If-None-Exist: ${ifNoneExist}`}`
  return decodeURIComponent(name)
}

/** What a read finds; whether a write is done, which a deletion may say with or without a body. */
function lineOf({ method, path }: Write, answer: Answer): string {
  if (method === 'GET') return answerLine(path, answer, IDS)
  return method === 'DELETE' && answer.status < 300 ? 'deleted' : String(answer.status)
}

async function askedOracle(command: string, lines: readonly object[]): Promise<readonly string[]> {
  const program = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  program.stdin.on('error', () => program.kill())
  program.stdin.end(lines.map((line) => JSON.stringify(line)).join('\n'))
  return (await text(program.stdout)).trimEnd().split('\n')
}
