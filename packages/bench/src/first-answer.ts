// Validates one Patient against a profile of the size of US Core's, and prints the time since the end of the imports, and the processor time.
import { r4 } from '@fhir-ops/r4'
import { createContext, forRequest } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { NATIONAL_PATIENT, NATIONAL_PROFILE, nationalDefinitions } from './content/national-profile.js'

const definitions = JSON.stringify(nationalDefinitions())
const start = performance.now()
const before = process.cpuUsage()
const ctx = forRequest(createContext({ storage: memoryStorage(), ...r4() }), { resources: JSON.parse(definitions) })
const { valid, findings } = await validate(ctx, { resource: JSON.stringify(NATIONAL_PATIENT), profiles: [NATIONAL_PROFILE] })
if (!valid) throw new Error(JSON.stringify(findings))
const afterImportMs = performance.now() - start
const millisecondsOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000
process.stdout.write(
  JSON.stringify({
    afterImportMs,
    afterImportProcessorMs: millisecondsOf(process.cpuUsage(before)),
    processorMs: millisecondsOf(process.cpuUsage()),
  }),
)
