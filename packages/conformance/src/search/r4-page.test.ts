import { DatabaseSync } from 'node:sqlite'
import { openPostgres } from '@fhir-ops/postgres'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { sqliteStorage } from '@fhir-ops/sqlite'
import { OperationError } from 'fhir-ops/errors'
import { memoryStorage } from 'fhir-ops/memory'
import { callersSearch, containedQueries, severalPage, showingContained, type SearchPair } from 'fhir-ops/internal/search'
import { createIndexer, parseSearch, searchParameters } from 'fhir-ops/search'
import { putResource, type Storage } from 'fhir-ops/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedDatabase, UNHURRIED } from '../../../postgres/test/test-database.js'
import { RESOURCES } from './r4-resources.js'

const parameters = searchParameters(r4SearchParameters(), r4TypeModel(), { words: true })
const indexer = createIndexer(parameters)
const NOW = new Date('2013-06-30T00:00:00Z')
const BASE = 'http://here.org/fhir'

const TYPES = [...new Set(RESOURCES.map(({ resourceType }) => resourceType))].sort()

/** Searches as R4's page on search has them or means them, and the ids that it promises; what is refused has its error code. */
const SEARCHES: readonly (readonly [search: string, expected: string])[] = [
  // 3.1.1.4.1, parameters of all resources
  ['Patient?_id=ann', 'ann'],
  ['Patient?_id=ann,bob', 'ann bob'],
  ['Patient?_lastUpdated=gt2013-06-29', 'ann bob'],
  ['Patient?_lastUpdated=gt2013-07-01', ''],
  ['Patient?_tag=http://acme.org/codes|needs-review', 'ann'],
  ['Patient?_tag=needs-review', 'ann'],
  ['Patient?_tag:not=needs-review', 'bob'],
  ['Patient?_security=R', 'ann'],
  ['Patient?_profile=http://acme.org/p', 'ann'],
  ['Patient?_profile=http://acme.org/p|1.0', 'ann'],
  ['Patient?_profile:below=http://acme.org/', 'ann'],
  ['Patient?_profile:below=http://acme', ''],
  ['Patient?_profile:above=http://acme.org/p/q', 'ann'],
  ['Patient?_list=42', 'bob'],
  // 3.1.1.4.4, modifiers
  ['Patient?gender:missing=true', ''],
  ['Observation?value-quantity:missing=true', 'none pressure'],
  ['Observation?value-quantity:missing=false', 'w100 w5.40003g w5.45mg w5.4mg w99.6'],
  ['Patient?given:exact=Ann', 'ann'],
  ['Patient?given:exact=ann', ''],
  ['Patient?organization:missing=true', ''],
  ['Patient?_id:missing=false', 'ann bob'],
  ['Patient?_id:missing=true', ''],
  ['Patient?_lastUpdated:missing=false', 'ann bob'],
  ['Patient?_lastUpdated:missing=yes', 'search-invalid'],
  // 3.1.1.4.5 and 3.1.1.4.6, prefixes and precision
  ['RiskAssessment?probability=100', 'r100'],
  ['RiskAssessment?probability=1e2', 'r100 r99'],
  ['RiskAssessment?probability=100.00', 'r100'],
  ['RiskAssessment?probability=lt100', 'r0.75 r0.8 r99 range'],
  ['RiskAssessment?probability=le100', 'r0.75 r0.8 r100 r99 range'],
  ['RiskAssessment?probability=gt100', ''],
  ['RiskAssessment?probability=ge100', 'r100'],
  ['RiskAssessment?probability=ne100', 'r0.75 r0.8 r99 range'],
  ['RiskAssessment?probability=gt0.8', 'r100 r99 range'],
  ['RiskAssessment?probability=sa0.85', 'r100 r99'],
  ['RiskAssessment?probability=eb0.95', 'r0.75 r0.8 range'],
  ['RiskAssessment?probability=ap0.8', 'r0.75 r0.8 range'],
  ['RiskAssessment?probability=0.8', 'r0.75 r0.8'],
  // 3.1.1.4.7, dates
  ['Observation?date=2013-01-14', 'w100'],
  ['Observation?date=eq2013-01-14', 'w100'],
  ['Observation?date=ne2013-01-14', 'w5.40003g w5.45mg w5.4mg w99.6'],
  ['Observation?date=lt2013-01-14T10:00', 'w5.40003g w99.6'],
  ['Observation?date=gt2013-01-14T10:00', 'w5.40003g w5.45mg w5.4mg w99.6'],
  ['Observation?date=ge2013-03-14', 'w5.40003g w5.45mg w5.4mg'],
  ['Observation?date=le2013-03-14', 'w100 w5.40003g w5.45mg w99.6'],
  ['Observation?date=sa2013-03-13', 'w5.45mg w5.4mg'],
  ['Observation?date=eb2013-03-14', 'w100 w99.6'],
  ['Observation?date=2013-01', 'w100 w99.6'],
  ['Observation?date=2013', 'w100 w5.40003g w5.45mg w99.6'],
  ['Observation?date=ge2013-01-11&date=le2013-01-19', 'w100 w5.40003g w99.6'],
  ['Observation?date=2013-01-14T10:00:00Z', 'w100'],
  ['Observation?date=2013-01-14T11:00:00%2B01:00', 'w100'],
  ['Observation?date=2013-01-14T10:00', 'w100'],
  ['Observation?date=2013-01-14T10', 'search-invalid'],
  ['Observation?date=2013-13', 'search-invalid'],
  ['Patient?birthdate=1974', 'ann bob'],
  ['Patient?birthdate=1974-12', 'ann'],
  ['Patient?birthdate=ge1974-06', 'ann bob'],
  ['Patient?death-date:missing=false', 'bob'],
  ['Patient?deceased=true', 'bob'],
  ['Patient?deceased=false', 'ann'],
  // 3.1.1.4.8, strings
  ['Patient?given=eve', 'ann'],
  ['Patient?given:contains=eve', 'ann bob'],
  ['Patient?name=eve', 'ann bob'],
  ['Patient?name=eve long', 'ann'],
  ['Patient?given=ève', 'ann'],
  ['Patient?given=Marie', ''],
  ['Patient?family:contains=windsor', 'ann'],
  ['Patient?address=zurich', 'ann'],
  ['Patient?address-city=ZÜRICH', 'ann'],
  ['Patient?address=hauptstrasse', 'bob'],
  ['Patient?address=HAUPTSTRASSE', 'bob'],
  ['Patient?address:contains=straße', 'bob'],
  ['Patient?address:exact=Hauptstrasse 1', ''],
  ['Patient?given=', 'search-invalid'],
  ['Patient?given:startswith=a', 'search-invalid'],
  // 3.1.1.4.9, uris
  ['ValueSet?url=http://acme.org/fhir/ValueSet/123', 'fire'],
  ['ValueSet?url=http://acme.org/fhir/valueset/123', ''],
  ['ValueSet?url:below=http://acme.org/fhir/', 'fire'],
  ['ValueSet?url:below=http://acme.org/fhi', ''],
  ['ValueSet?url:above=http://acme.org/fhir/ValueSet/123/_history/5', 'fire'],
  ['ValueSet?url=urn:oid:1.2.3.4.5', 'oid'],
  ['ValueSet?url:contains=acme', 'search-invalid'],
  // 3.1.1.4.10, tokens
  ['Patient?identifier=http://acme.org/patient|2345', 'ann'],
  ['Patient?identifier=2345', 'ann'],
  ['Patient?identifier=|2345', ''],
  ['Patient?identifier=|bare', 'ann'],
  ['Patient?identifier=http://acme.org/patient|', 'ann'],
  ['Patient?identifier=http://acme.org/other|2345', ''],
  ['Patient?identifier:of-type=http://terminology.hl7.org/CodeSystem/v2-0203|MR|2345', 'ann'],
  ['Patient?gender=male', 'bob'],
  ['Patient?gender:not=male', 'ann'],
  ['Patient?gender:not=male,female', ''],
  ['Patient?gender=http://hl7.org/fhir/administrative-gender|male', 'bob'],
  // The first resource of a Bundle is what it is about only if it is one of that type.
  ['Bundle?composition=Composition/summary', 'document'],
  ['Bundle?composition:missing=true', 'found'],
  ['Bundle?message:missing=true', 'document found'],
  ['Bundle?message=Patient/ann', ''],
  // The value set of intents has codes of two systems.
  ['Task?intent=http://hl7.org/fhir/request-intent|order', 'ordered'],
  ['Task?intent=http://hl7.org/fhir/task-intent|unknown', 'unknown'],
  ['Task?intent=http://hl7.org/fhir/task-intent|', 'unknown'],
  ['Task?intent=http://hl7.org/fhir/task-intent|order', ''],
  ['Task?intent=order', 'ordered'],
  ['Patient?active=true', 'ann'],
  ['Patient?active:not=true', 'bob'],
  ['Patient?telecom=phone|555', 'ann'],
  ['Patient?telecom=home|555', 'ann'],
  ['Patient?email=a@b.org', 'ann'],
  ['Patient?phone=a@b.org', ''],
  ['Observation?code:text=headache', 'pressure'],
  ['Observation?code:text=body', 'none w100 w5.40003g w5.45mg w5.4mg w99.6'],
  ['Observation?code=LOINC', ''],
  ['Observation?status=final,amended&value-quantity=5.45', 'w5.45mg'],
  // 3.1.1.4.11, quantities
  ['Observation?value-quantity=5.4|http://unitsofmeasure.org|mg', 'w5.4mg'],
  ['Observation?value-quantity=5.4||mg', 'w5.4mg'],
  ['Observation?value-quantity=5.4', 'w5.4mg'],
  ['Observation?value-quantity=5.40e-3', 'w5.40003g'],
  ['Observation?value-quantity=le5.4|http://unitsofmeasure.org|mg', 'w5.4mg'],
  ['Observation?value-quantity=ap5.4|http://unitsofmeasure.org|mg', 'w5.45mg w5.4mg'],
  ['Observation?value-quantity=ap100', 'w100 w99.6'],
  ['Observation?value-quantity=100', 'w100 w99.6'],
  ['Observation?value-quantity=gt5.4||kg', 'w100 w99.6'],
  ['Observation?value-quantity=abc', 'search-invalid'],
  // 3.1.1.4.12, references
  ['Observation?subject=Patient/ann&_sort=_id&status=amended', 'w5.45mg'],
  ['Observation?subject=ann&status=amended', 'w5.45mg'],
  ['Observation?subject:Patient=ann&status=amended', 'w5.45mg'],
  ['Observation?subject=http://here.org/fhir/Patient/ann&status=amended', 'w5.45mg'],
  ['Observation?subject=Group/ann', ''],
  ['Observation?patient=ann&status=amended', 'w5.45mg'],
  ['Observation?subject:identifier=http://acme.org/fhir/identifier/mrn|123', 'none'],
  ['Observation?patient:identifier=http://acme.org/fhir/identifier/mrn|123', ''],
  ['Observation?subject:missing=true', ''],
  ['Patient?general-practitioner=Practitioner/who', 'ann'],
  ['Patient?general-practitioner=http://elsewhere.org/fhir/Practitioner/who', 'bob'],
  ['Patient?organization=Practitioner/who', ''],
  ['Patient?general-practitioner:Patient=who', 'search-invalid'],
  ['QuestionnaireResponse?questionnaire=http://acme.org/fhir/Questionnaire/q', 'qr'],
  ['QuestionnaireResponse?questionnaire=http://acme.org/fhir/Questionnaire/q|2.0', 'qr'],
  ['QuestionnaireResponse?questionnaire=http://acme.org/fhir/Questionnaire/q|1.0', ''],
  ['Encounter?part-of:below=Encounter/stay', 'visit'],
  // 3.1.1.4.15, chains
  ['DiagnosticReport?subject.name=eve', 'dr'],
  ['DiagnosticReport?subject:Patient.name=eve', 'dr'],
  ['Patient?general-practitioner.name=Joe', 'ann'],
  ['Patient?general-practitioner:Practitioner.name=Joe&general-practitioner:Practitioner.family=Other', ''],
  ['Observation?encounter.part-of.subject.name=steven', 'pressure'],
  ['DiagnosticReport?result.code=8480-6', ''],
  ['DiagnosticReport?result.component-code=8480-6', 'dr'],
  ['DiagnosticReport?subject:Patient.gender=male', ''],
  // 3.1.1.4.16, reverse chains
  ['Patient?_has:Observation:patient:status=amended', 'ann'],
  ['Patient?_has:Observation:patient:_has:Provenance:target:agent=who', 'ann'],
  ['Patient?_has:Observation:subject:code=29463-7', 'ann'],
  ['Patient?_has:Group:member:_id=herd', 'ann'],
  ['Encounter?patient._has:Group:member:_id=herd', 'visit'],
  ['Patient?_has:Observation:patient:code:missing=false', 'ann'],
  // 3.1.1.4.17, or and and
  ['Patient?given=eve,steven', 'ann bob'],
  ['Patient?given=eve&given=ann', 'ann'],
  ['Patient?given=eve&given=steven', ''],
  // 3.1.1.4.19, escapes
  ['Organization?name=clinic\\, north', 'clinic'],
  ['Organization?name=clinic\\, north | east', 'clinic'],
  ['Organization?name:exact=Clinic\\, North | East $ West \\\\ Wing', 'clinic'],
  ['Organization?name:exact=Clinic\\, North \\| East \\$ West \\\\ Wing', 'clinic'],
  ['Organization?identifier=http://acme.org|c\\,1\\|2\\$3', 'clinic'],
  ['Organization?name=clinic, north', 'clinic'],
  ['Organization?name=north', ''],
  // 3.1.1.4.17, composites
  ['Observation?component-code-value-quantity=8480-6$107', 'pressure'],
  ['Observation?component-code-value-quantity=http://loinc.org|8480-6$gt100|http://unitsofmeasure.org|mm[Hg]', 'pressure'],
  ['Observation?component-code-value-quantity=8480-6$60', ''],
  ['Observation?component-code-value-quantity=8480-6$60,8462-4$60', 'pressure'],
  ['Observation?code-value-quantity=29463-7$5.4||mg', 'w5.4mg'],
  ['Observation?code-value-quantity=29463-7', 'search-invalid'],
  ['Group?characteristic-value=gender$mixed', 'herd'],
  ['Group?characteristic-value=gender$old', ''],
  ['Group?characteristic=gender&value=old', 'herd'],
  ['Group?characteristic-value:missing=false', 'herd'],
  // 3.1.1.4.20, text
  ['Patient?phonetic=steven', 'bob'],
  ['Patient?phonetic=stephen eve', 'bob'],
  ['Encounter?_text=(bone OR liver) and metastases', 'visit'],
  ['Encounter?_text=bone', 'stay'],
  ['Encounter?_content=liver finished', 'visit'],
  ['Encounter?_content=finished bone', 'stay'],
  // 3.1.1.5.5, contained resources
  ['MedicationRequest?medication.ingredient-code=http://example.org/medications|abc', 'custom'],
  ['MedicationRequest?medication.manufacturer.name=meds', 'custom'],
  ['MedicationRequest?medication.code:missing=true', 'custom'],
  ['MedicationRequest?medication:Medication.ingredient-code=other', ''],
  ['Medication?ingredient-code=http://example.org/medications|abc', ''],
  ['Organization?name=meds', ''],
  ['Patient?_contained=false&gender=male', 'bob'],
  ['Medication?ingredient-code=abc&_contained=false&_containedType=contained', ''],
  ['Medication?ingredient-code=abc&_contained=true', 'custom'],
  ['Medication?ingredient-code=abc&_contained=both', 'custom'],
  ['Medication?ingredient-code=abc&_contained=true&_containedType=container', 'custom'],
  ['Medication?ingredient-code=abc&_contained=true&_containedType=contained', 'MedicationRequest/custom#mix'],
  ['Medication?manufacturer.name=meds&_contained=true', 'custom'],
  ['Organization?name=meds,clinic&_contained=true&_containedType=contained', 'MedicationRequest/custom#maker'],
  ['Organization?name=meds,clinic\\, n&_contained=both&_containedType=contained', 'clinic MedicationRequest/custom#maker'],
  ['Organization?name=meds,clinic\\, n&_contained=both&_containedType=contained&_sort=-name', 'MedicationRequest/custom#maker clinic'],
  ['Organization?_contained=both', 'custom clinic'],
  ['Organization?_contained=both&_sort=name', 'search-unsupported'],
  ['Organization?_contained=both&_containedType=contained&_sort=partof', 'search-unsupported'],
  ['Organization?_contained=both&_sort=-_id', 'custom clinic'],
  ['Organization?_id=maker&_contained=true', 'custom'],
  ['Organization?_id:not=maker&_contained=true', ''],
  ['Medication?_has:MedicationRequest:medication:status=active&_contained=true', 'custom'],
  ['Medication?ingredient-code=other&_contained=true', ''],
  ['Patient?_contained=maybe', 'search-invalid'],
  ['Patient?_containedType=both', 'search-invalid'],
  // what is not FHIR, and what is not offered
  ['Patient?nothing=x', 'search-invalid'],
  ['Patient?constructor=x', 'search-invalid'],
  ['Patient?given:not=x', 'search-invalid'],
  ['Patient?_filter=given eq "x"', 'search-unsupported'],
  ['Patient?_query=current', 'search-unsupported'],
]

const database = await sharedDatabase()
const now = (): Date => NOW
const postgres = await openPostgres((await database.schema()).pool(), { ...UNHURRIED, now })

describe.each<[string, Storage]>([
  ['memory', memoryStorage([], { now })],
  ['SQLite', sqliteStorage(new DatabaseSync(':memory:'), { now })],
  ['PostgreSQL', postgres.storage],
])('searches of R4 over %s', (_, storage) => {
  beforeAll(async () => {
    await storage.write(
      RESOURCES.map((resource) => putResource({ type: resource.resourceType, id: resource.id, source: { ...resource } }, indexer)),
    )
  })
  afterAll(() => storage.close())

  it.each(SEARCHES)('%s', async (search, expected) => {
    expect(await answerOf(storage, search)).toBe(expected)
  })
})

/** The ids that are found, or the code of the error. */
async function answerOf(storage: Storage, search: string): Promise<unknown> {
  const mark = search.indexOf('?')
  const type = search.slice(0, mark)
  try {
    const options = callersSearch({ storage, search: { parameters, base: BASE, now, contained: true } })
    const { query, contained } = await parseSearch(type, pairsOf(search.slice(mark + 1)), options)
    const queries = contained === undefined ? [query] : containedQueries(query, contained, TYPES)
    const { items } = await severalPage({ storage: showingContained(storage), indexer }, queries, { limit: 100 })
    const counts = await Promise.all(queries.map((one) => storage.count(one)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(items.length)
    return items.map(({ id }) => id).join(' ')
  } catch (error) {
    if (error instanceof OperationError) return error.code
    throw error
  }
}

function pairsOf(text: string): readonly SearchPair[] {
  return text
    .split('&')
    .map((pair): SearchPair => [pair.slice(0, pair.indexOf('=')), decodeURIComponent(pair.slice(pair.indexOf('=') + 1))])
}
