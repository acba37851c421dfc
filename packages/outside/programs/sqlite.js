import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
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

const file = join(folder, 'content.db')
const opened = await openSqlite(file)
await Promise.all(['a', 'b', 'c'].map((id) => opened.storage.write([put(id)])))
const { items } = await opened.storage.search({ type: 'Basic', where })
await opened.close()
const again = await openSqlite(file)
const { versionId } = await again.storage.read('Basic', 'b')
console.log(items.map(({ id }) => id).join(' '), versionId, await again.storage.count({ type: 'Basic', where }))

const staged = await again.concepts.stage({ url: 'http://example.org/s', version: '1', format: 'f', concepts: 0, header: '{}' })
await staged.put('empty', new Uint8Array())
const { key } = await staged.publish()
const sections = await again.concepts.open(key)

const otherWriter = new DatabaseSync(file)
otherWriter.exec('BEGIN IMMEDIATE')
setTimeout(() => otherWriter.exec('COMMIT'), 300)
await again.storage.write([put('d')])
otherWriter.close()
console.log(sections.section('empty').length, (await again.storage.read('Basic', 'd')).versionId)
await again.close()
rmSync(folder, { recursive: true })
