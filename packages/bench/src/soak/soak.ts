import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setInterval } from 'node:timers/promises'
import autocannon from 'autocannon'
import { markdownTable } from '../markdown.js'
import { served, type Served } from '../memory/served.js'
import { OBSERVATION, PATIENT } from '../content/content.js'

const CONNECTIONS = 8
const PROBE_SECONDS = 5
const SAMPLES = 30
/** Fraction of the time that is ignored at the beginning, while caches fill and code is compiled. */
const WARM_UP = 1 / 6

/**
 * Memory of `fhir-ops serve` over SQLite at half of its maximum load, for `SOAK_MINUTES` (default 5; the promise is about 30). Fails if
 * the last third needs more than a tenth more memory than the third after the warm-up.
 */
export async function soak(): Promise<string> {
  const minutes = Number(process.env['SOAK_MINUTES'] ?? 5)
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-soak-'))
  const server = await served(`sqlite:${join(folder, 'soak.db')}`)
  const most = await load(server, { duration: PROBE_SECONDS })
  const rate = Math.max(1, Math.round(most.requests.average / 2))
  const loaded = load(server, { duration: minutes * 60, overallRate: rate })
  const sizes = await residentMb(server, (minutes * 60_000) / SAMPLES)
  const result = await loaded
  await server.close()
  await rm(folder, { recursive: true })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} answers were not successful, ${result.errors} requests failed`)
  const kept = sizes.slice(Math.ceil(SAMPLES * WARM_UP))
  const third = Math.floor(kept.length / 3)
  const [early, late] = [mean(kept.slice(0, third)), mean(kept.slice(-third))]
  if (late > early * 1.1) throw new Error(`Resident memory grew from ${early.toFixed(0)} to ${late.toFixed(0)} MB.`)
  const cells = [
    String(minutes),
    String(rate),
    String(result.requests.total),
    early.toFixed(0),
    late.toFixed(0),
    Math.max(...sizes).toFixed(0),
  ]
  return markdownTable(['minutes', 'requests/s', 'requests', 'early, resident MB', 'late', 'most'], [cells])
}

function load({ base, token }: Served, how: { readonly duration: number; readonly overallRate?: number }) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' }
  return autocannon({ url: base, headers, connections: CONNECTIONS, requests: [...SOAK_REQUESTS], ...how })
}

async function residentMb({ pid }: Served, everyMs: number): Promise<readonly number[]> {
  const sizes: number[] = []
  for await (const _tick of setInterval(everyMs)) {
    const kib = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
    sizes.push(Number(kib) / 1_024)
    if (sizes.length === SAMPLES) break
  }
  return sizes
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** A request of the mix. */
interface SoakRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly body?: string
}

const PATIENTS = 500
const FHIR = '/fhir/R4'
const GENDERS = encodeURIComponent('http://hl7.org/fhir/ValueSet/administrative-gender')

/** Writes, reads, searches of many forms and operations in turn, over a number of Patients repeatedly. */
const SOAK_REQUESTS: readonly SoakRequest[] = Array.from({ length: PATIENTS }, (_, n) => [
  put('Patient', `p${n}`, { ...PATIENT, multipleBirthInteger: n }),
  put('Observation', `o${n}`, { ...OBSERVATION, subject: { reference: `Patient/p${n}` } }),
  get(`/Patient/p${n}`),
  get(`/Observation?subject=Patient/p${n}&_sort=-date&_count=5`),
  get(`/Patient?family=${familiesOf(n)}&birthdate=ge19${10 + (n % 90)}&_sort=${n % 2 === 0 ? '-' : ''}birthdate`),
  get(`/ValueSet/$expand?url=${GENDERS}&filter=${'mfou'[n % 4]}`),
  {
    method: 'POST' as const,
    path: `${FHIR}/Patient/$validate`,
    body: JSON.stringify({ ...PATIENT, birthDate: `19${10 + (n % 90)}-01-01` }),
  },
]).flat()

/** Family names for a search; their number varies, so that searches differ in form. */
function familiesOf(n: number): string {
  return Array.from({ length: 1 + (n % 50) }, (_, at) => `Family${at}`).join()
}

function get(path: string): SoakRequest {
  return { method: 'GET', path: FHIR + path }
}

function put(type: string, id: string, resource: object): SoakRequest {
  return { method: 'PUT', path: `${FHIR}/${type}/${id}`, body: JSON.stringify({ ...resource, id }) }
}
