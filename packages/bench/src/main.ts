// Measures and prints Markdown tables. `bench` runs all, `bench NAME...` those.
import { availableParallelism, cpus } from 'node:os'
import { overHttp } from './http/http.js'
import { inProcess } from './in-process/in-process.js'
import { storages } from './storage/storage.js'
import { terminology } from './terminology/terminology.js'
import { validate } from './validate/validate.js'

const BENCHES: ReadonlyMap<string, () => Promise<string>> = new Map([
  ['in-process', inProcess],
  ['http', overHttp],
  ['terminology', terminology],
  ['storage', storages],
  ['validate', validate],
])

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !BENCHES.has(name))
if (unknown !== undefined || wanted.includes('--help')) {
  console.log(`bench [${[...BENCHES.keys()].join('|')}]...   measures and prints tables; all when none is named`)
  process.exit(unknown === '--help' || unknown === undefined ? 0 : 2)
}

console.log(`Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown processor'}\n`)
for (const name of wanted.length > 0 ? wanted : BENCHES.keys()) console.log(`${await BENCHES.get(name)?.()}\n`)
