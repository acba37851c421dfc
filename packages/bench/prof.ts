import { createCqlLanguage } from '@fhir-ops/cql'
import { createTranslator } from '@fhir-ops/cql/translator'
import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { evaluateMeasure } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { LIBRARY_TEXT, LIBRARY_URL, MEASURE_A, MEASURE_B, PERIOD, recordOf, VALUE_SETS } from './src/measures/clinic.js'
const { indexer, ...release } = r4()
const t = await createTranslator({ model: release.types })
const elm = (await t.translate(LIBRARY_TEXT)).elm
const library = { resourceType: 'Library', id: 'BloodPressure', url: LIBRARY_URL, name: 'BloodPressure', version: '1', status: 'active',
    content: [{ contentType: 'application/elm+json', data: Buffer.from(JSON.stringify(elm)).toString('base64') }] }
const N = 500
const storage = memoryStorage([library, MEASURE_A, MEASURE_B, ...VALUE_SETS, ...Array.from({length:N},(_, n)=>recordOf(n)).flat()], { indexer })
const ctx = createContext({ ...release, storage, limits: { operationTimeoutMs: 600_000 } })
for (let i = 0; i < 6; i++) {
  const c = process.cpuUsage()
  const { groups } = await evaluateMeasure(ctx, { measure: 'Measure/b', periodStart: PERIOD.start, periodEnd: PERIOD.end }, { languages: [createCqlLanguage()] })
  const u = process.cpuUsage(c)
  console.log(((u.user + u.system) / N / 1000).toFixed(3), 'ms/patient', groups[0].populations.map((p) => p.count).join(' '))
}
