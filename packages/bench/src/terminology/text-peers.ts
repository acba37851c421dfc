import { DatabaseSync } from 'node:sqlite'
import { objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'

/** Other ways to find concepts by prefixes of words, over the same texts. */
export interface TextPeers {
  /** SQLite's full text index: any 20 matches, not the best ones, without a total. */
  readonly fts: (filter: string) => unknown
  /** As `fts`, with the total. */
  readonly ftsTotal: (filter: string) => unknown
  /** Comparison with every text, already in lower case: any 20 matches. */
  readonly scan: (filter: string) => unknown
}

/** Builds the peers in memory. */
export function textPeers(concepts: readonly JsonObject[]): TextPeers {
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
