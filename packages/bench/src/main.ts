// Measures, and prints Markdown tables and the machine; `npm run bench` calls it.
import { cluster } from './cluster/cluster.js'
import { clusterFaults } from './cluster/faults.js'
import { hl7v2 } from './hl7v2/hl7v2.js'
import { overHttp } from './http/http.js'
import { costlyEcl } from './terminology/costly-ecl.js'
import { hostile } from './terminology/hostile.js'
import { inProcess } from './in-process/in-process.js'
import { machineLine, machineNow } from './machine.js'
import { memory } from './memory/memory.js'
import { measures } from './measures/measures.js'
import { soak } from './soak/soak.js'
import { firstLoads } from './storage/first-load.js'
import { storages } from './storage/storage.js'
import { terminology } from './terminology/terminology.js'
import { hostileResources } from './validate/hostile-resources.js'
import { java } from './validate/java.js'
import { validate } from './validate/validate.js'
import { validateFiles } from './validate/validate-files.js'

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
  ['cluster-faults', clusterFaults],
  ['measures', measures],
  ['memory', memory],
  ['soak', soak],
  ['validate', validate],
  ['validate-files', validateFiles],
  ['java', java],
])

const wanted = process.argv.slice(2)
if (wanted[0] === '--list') {
  console.log([...BENCHES.keys()].join('\n'))
  process.exit(0)
}
for (const name of wanted) {
  const bench = BENCHES.get(name)
  if (bench === undefined) throw new TypeError(`There is no bench '${name}'.`)
  const before = machineNow()
  console.log(`${await bench()}\n\n${machineLine(before, machineNow())}`)
}
