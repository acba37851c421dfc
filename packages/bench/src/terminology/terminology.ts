import { DatabaseSync } from 'node:sqlite'
import { expand } from 'fhir-ops/expand'
import { lookup } from 'fhir-ops/lookup'
import { subsumes } from 'fhir-ops/subsumes'
import { objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { clinicalSystem, FULL_SHAPE } from '../content/clinical-system.js'
import { markdownTable } from '../markdown.js'
import { heapBytes, timed } from '../timing.js'
import { clinicalCalls, TYPED, type ClinicalSubject } from './clinical-calls.js'
import { stretch, type Stretch } from './stretch.js'
import { memorySubject, resourceSubject, sqliteRelease, sqliteSubject } from './subjects.js'

/** Time in microseconds of terminology operations as function calls over a system of the size of a large clinical terminology. */
export async function terminology(): Promise<string> {
  const columns: Column[] = []
  const costs: string[][] = []
  const concepts = objectsAt(clinicalSystem(FULL_SHAPE), 'concept')
  await importedColumns(concepts, columns, costs)
  await resourceColumn(columns, costs)
  const peers = await measuredPeers(concepts)
  return [
    `${FULL_SHAPE.concepts} concepts, ${FULL_SHAPE.designations} designations; p50 / p99 in µs`,
    markdownTable(['', ...columns.map(({ name }) => name)], rowsOf(columns)),
    markdownTable(['peers, p50 / p99 in µs', ...Object.keys(TYPED)], peers),
    markdownTable(['', 'bytes per concept', 'ms', 'longest stretch ms', 'in processor time ms'], costs),
  ].join('\n\n')
}

type Concepts = Parameters<typeof textPeers>[0]

interface Column {
  readonly name: string
  readonly times: ReadonlyMap<string, string>
}

function rowsOf(columns: readonly Column[]): string[][] {
  const names = new Set(columns.flatMap(({ times }) => [...times.keys()]))
  return Array.from(names, (name) => [name, ...columns.map(({ times }) => times.get(name) ?? '')])
}

async function measured(name: string, subject: ClinicalSubject): Promise<Column> {
  const times = new Map<string, string>()
  for (const [row, call] of clinicalCalls(subject)) times.set(row, await time(call))
  return { name, times }
}

async function time(call: () => unknown): Promise<string> {
  const { p50, p99 } = await timed(call)
  return [p50, p99].map((micros) => (micros < 100 ? micros.toFixed(1) : micros.toFixed(0))).join(' / ')
}

async function measuredPeers(concepts: Concepts): Promise<string[][]> {
  const { fts, ftsTotal, scan } = textPeers(concepts)
  const row = async (name: string, search: (filter: string) => unknown): Promise<string[]> => {
    const cells: string[] = []
    for (const filters of Object.values(TYPED)) {
      let turn = 0
      cells.push(await time(() => search(filters[turn++ % filters.length] ?? '')))
    }
    return [name, ...cells]
  }
  return [
    await row('SQLite FTS5, any 20', fts),
    await row('SQLite FTS5, any 20 and total', ftsTotal),
    await row('scan of all texts, first 20', scan),
  ]
}

/** A CodeSystem resource, whose indexes are built at first use. */
async function resourceColumn(columns: Column[], costs: string[][]): Promise<void> {
  const before = heapBytes()
  const subject = resourceSubject(clinicalSystem(FULL_SHAPE))
  const loaded = heapBytes()
  costs.push(['resource in memory: its text', perConcept(loaded - before), '', '', ''])
  const opened = await stretch(() => firstSubsumes(subject))
  const indexed = heapBytes()
  costs.push(['resource in memory: codes and hierarchy, at first use', perConcept(indexed - loaded), ...shown(opened)])
  const texts = await stretch(() => firstFilter(subject))
  costs.push(['resource in memory: text index, at first filter', perConcept(heapBytes() - indexed), ...shown(texts)])
  columns.push(await measured('resource, memory', subject))
}

/** An imported release, whose indexes are prebuilt. */
async function importedColumns(concepts: Concepts, columns: Column[], costs: string[][]): Promise<void> {
  columns.push(await measured('imported, memory', await memorySubject(concepts)))
  let release: Awaited<ReturnType<typeof sqliteRelease>> | undefined
  const imported = await stretch(async () => {
    release = await sqliteRelease(concepts)
  })
  if (release === undefined) return
  costs.push(['import into SQLite', '', imported.ms, '', ''])
  const before = heapBytes()
  let subject: Awaited<ReturnType<typeof sqliteSubject>> | undefined
  const { file } = release
  const opened = await stretch(async () => {
    subject = await sqliteSubject(file)
    await lookup(subject.ctx, { system: subject.system, code: subject.code(7) })
  })
  if (subject === undefined) return
  const used: ClinicalSubject = subject
  costs.push(['imported, SQLite: cold open and one lookup', '', ...shown(opened)])
  costs.push(['imported, SQLite: hierarchy, at first use', '', ...shown(await stretch(() => firstSubsumes(used)))])
  costs.push(['imported, SQLite: texts, at first filter', '', ...shown(await stretch(() => firstFilter(used)))])
  columns.push(await measured('imported, SQLite', used))
  costs.push(['imported, SQLite: all of the above in use', perConcept(heapBytes() - before), '', '', ''])
  await subject.close()
  await release.remove()
}

function firstSubsumes({ ctx, system, code }: ClinicalSubject): Promise<unknown> {
  return subsumes(ctx, { system, codeA: code(0), codeB: code(9) })
}

function firstFilter({ ctx, all }: ClinicalSubject): Promise<unknown> {
  return expand(ctx, { url: all, filter: 'zz', count: 1 })
}

function shown({ ms, longest, busy }: Stretch): readonly string[] {
  return [ms, longest, busy]
}

function perConcept(bytes: number): string {
  return (bytes / FULL_SHAPE.concepts).toFixed(0)
}

/** Other ways to find concepts by prefixes of words, over the same texts. */
interface TextPeers {
  /** SQLite's full text index: any 20 matches, not the best ones, without a total. */
  readonly fts: (filter: string) => unknown
  /** As `fts`, with the total. */
  readonly ftsTotal: (filter: string) => unknown
  /** Comparison with every text, already in lower case: any 20 matches. */
  readonly scan: (filter: string) => unknown
}

/** Builds the peers in memory. */
function textPeers(concepts: readonly JsonObject[]): TextPeers {
  const texts = concepts.map((concept) => [concept, ...objectsAt(concept, 'designation')].map(textOf).join('\n').toLowerCase())
  const db = new DatabaseSync(':memory:')
  db.exec("CREATE VIRTUAL TABLE t USING fts5(text, content='', detail=none, prefix='2 3 4')")
  const add = db.prepare('INSERT INTO t (rowid, text) VALUES (?, ?)')
  db.exec('BEGIN')
  texts.forEach((text, place) => add.run(place, text))
  db.exec('COMMIT')
  const first = db.prepare('SELECT rowid FROM t WHERE t MATCH ? LIMIT 20')
  const total = db.prepare('SELECT count(*) FROM t WHERE t MATCH ?')
  const query = (filter: string): string =>
    filter
      .split(' ')
      .map((word) => `${word}*`)
      .join(' ')
  return {
    fts: (filter) => first.all(query(filter)),
    ftsTotal: (filter) => [first.all(query(filter)), total.get(query(filter))],
    scan: (filter) => scanned(texts, filter.split(' ')),
  }
}

function textOf(element: JsonObject): string {
  return ` ${stringAt(element, 'display') ?? stringAt(element, 'value') ?? ''}`
}

function scanned(texts: readonly string[], words: readonly string[]): readonly number[] {
  const found: number[] = []
  for (const [place, text] of texts.entries()) {
    if (words.every((word) => text.includes(` ${word}`))) found.push(place)
    if (found.length === 20) break
  }
  return found
}
