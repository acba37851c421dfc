import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '@fhir-ops/sqlite'

const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-'))
const put = (id) => ({
  op: 'put',
  type: 'Basic',
  id,
  text: `{"resourceType":"Basic","id":"${id}","meta":{}}`,
  entries: [{ param: 'code', value: 'x' }],
})
const where = { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand: 'x' }] }

const opened = await openSqlite(join(folder, 'content.db'))
await Promise.all(['a', 'b', 'c'].map((id) => opened.storage.write([put(id)])))
const { items } = await opened.storage.search({ type: 'Basic', where })
await opened.close()
const again = await openSqlite(join(folder, 'content.db'))
const { versionId } = await again.storage.read('Basic', 'b')
console.log(items.map(({ id }) => id).join(' '), versionId, await again.storage.count({ type: 'Basic', where }))
await again.close()
rmSync(folder, { recursive: true })
