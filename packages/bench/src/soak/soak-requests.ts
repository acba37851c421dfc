import { OBSERVATION, PATIENT } from '../content/content.js'

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
export const SOAK_REQUESTS: readonly SoakRequest[] = Array.from({ length: PATIENTS }, (_, n) => [
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
