// Writes to the database file of its first argument, one write after the other, and reports each on stdout after it was acknowledged.
import { writeSync } from 'node:fs'
import { openSqlite } from '@fhir-ops/sqlite'
import { writableText } from 'fhir-ops/storage'

const [file = '', mode] = process.argv.slice(2)
const db = await openSqlite(file, { synchronous: mode === 'NORMAL' ? 'NORMAL' : 'FULL' })
const text = writableText('Basic', 'a', { resourceType: 'Basic' })
for (let step = 0; step < 10; step++) {
  await db.storage.write([{ op: 'put', type: 'Basic', id: 'a', text, entries: [] }])
  writeSync(1, 'acknowledged\n')
  await db.sessions.putUser('ann', { step })
  writeSync(1, 'acknowledged\n')
}
await db.close()
