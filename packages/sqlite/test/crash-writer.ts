// Writes to the database file of its first argument until it is killed, and reports on stdout what was acknowledged, one line each:
// `pair N VERSION MARK`, `session ID`, `ended ID`.
import { writeSync } from 'node:fs'
import { openSqlite } from '@fhir-ops/sqlite'
import { writableText, type PutEntry } from 'fhir-ops/storage'

const [file = '', run = ''] = process.argv.slice(2)
const LANES = 8
const PAIRS = 5

const db = await openSqlite(file)

/** Both halves of a pair carry the same mark, over and over, so that a torn or half write would show. */
function half(name: string, mark: string): PutEntry {
  const text = writableText('Basic', name, { resourceType: 'Basic', language: `${mark} `.repeat(200) })
  return { op: 'put', type: 'Basic', id: name, text, entries: [{ param: 'mark', value: mark }] }
}

function report(line: string): void {
  writeSync(1, `${line}\n`)
}

async function writePairs(lane: number): Promise<never> {
  for (let step = 0; ; step++) {
    const pair = lane * PAIRS + (step % PAIRS)
    const mark = `${run}-${lane}-${step}`
    const [first] = await db.storage.write([half(`a${pair}`, mark), half(`b${pair}`, mark)])
    report(`pair ${pair} ${first?.versionId} ${mark}`)
  }
}

async function startAndEndSessions(): Promise<never> {
  for (let step = 0; ; step++) {
    const loginId = `${run}-${step}`
    const times = { createdAt: 1, lastUsedAt: 1, expiresAt: 2 }
    await db.sessions.addSession({ loginId, sub: 'ann', digest: loginId, state: 'active', epoch: 0, scopes: [], ...times })
    report(`session ${loginId}`)
    if (step % 2 === 1) continue
    await db.sessions.changeSession(loginId, ['active'], { state: 'logged-out' })
    report(`ended ${loginId}`)
  }
}

await Promise.all([startAndEndSessions(), ...Array.from({ length: LANES }, (_, lane) => writePairs(lane))])
