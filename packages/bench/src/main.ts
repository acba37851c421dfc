// Measures and prints Markdown tables. `bench` runs all but the soak test, `bench NAME...` those.
import { availableParallelism, cpus } from 'node:os'
import { cluster } from './cluster/cluster.js'
import { hl7v2 } from './hl7v2/hl7v2.js'
import { overHttp } from './http/http.js'
import { costlyEcl } from './terminology/costly-ecl.js'
import { hostile } from './terminology/hostile.js'
import { inProcess } from './in-process/in-process.js'
import { memory } from './memory/memory.js'
import { measures } from './measures/measures.js'
import { soak } from './soak/soak.js'
import { firstLoads } from './storage/first-load.js'
import { storages } from './storage/storage.js'
import { terminology } from './terminology/terminology.js'
import { hostileResources } from './validate/hostile-resources.js'
import { validate } from './validate/validate.js'

const BENCHES: ReadonlyMap<string, () => Promise<string>> = new Map([
  ['in-process', inProcess],
  ['http', overHttp],
  ['hl7v2', hl7v2],
  ['terminology', terminology],
  ['hostile', hostile],
  ['hostile-resources', hostileResources],
  ['costly-ecl', costlyEcl],
  ['storage', storages],
  ['first-load', firstLoads],
  ['cluster', cluster],
  ['measures', measures],
  ['memory', memory],
  ['soak', soak],
  ['validate', validate],
])

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !BENCHES.has(name))
if (unknown !== undefined || wanted.includes('--help')) {
  console.log(`bench [${[...BENCHES.keys()].join('|')}]...   measures and prints tables; all but soak when none is named`)
  process.exit(unknown === '--help' || unknown === undefined ? 0 : 2)
}

console.log(`Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown processor'}\n`)
const names = wanted.length > 0 ? wanted : [...BENCHES.keys()].filter((name) => name !== 'soak')
for (const name of names) console.log(`${await BENCHES.get(name)?.()}\n`)
