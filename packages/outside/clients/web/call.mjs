// Calls a server with clients of the web and libraries for FHIR; writes a line `client: call<TAB>answer` for each call.
import { createRequire } from 'node:module'
import { build, FetchFhirClient } from '@bonfhir/core/r4b'
import axios from 'axios'
import fhirPackage from 'fhir'
import got from 'got'
import ky from 'ky'
import supertest from 'supertest'

const [base, token] = process.argv.slice(2)
const { initServices } = createRequire(import.meta.url)('@beda.software/fhir-react')
const headers = { authorization: `Bearer ${token}` }
const FHIR = { 'content-type': 'application/fhir+json' }
const patient = { resourceType: 'Patient', name: [{ family: 'Made' }] }
const OFF = [{ op: 'add', path: '/active', value: false }]

async function told(client, call, run) {
  const answer = await run().catch((error) => `${error.name}: ${error.message}`.replaceAll('\n', ' '))
  process.stdout.write(`${client}: ${call}\t${typeof answer === 'string' ? answer : JSON.stringify(answer)}\n`)
}

const over = axios.create({ baseURL: base, headers })
await told('axios', "get('/Patient/p')", async () => (await over.get('/Patient/p')).data.name[0].family)
await told(
  'axios',
  "get('/Patient', { params })",
  async () => (await over.get('/Patient', { params: { family: 'Lovell', _count: 1 } })).data.total,
)
await told('axios', 'params with a list, with indexes: null', async () => {
  const { data } = await over.get('/Patient', {
    params: { _lastUpdated: ['ge2000', 'lt2999'], _summary: 'count' },
    paramsSerializer: { indexes: null },
  })
  return data.total > 0
})
await told('axios', 'params with a list', async () => {
  const { response } = await over.get('/Patient', { params: { _lastUpdated: ['ge2000', 'lt2999'] } }).catch((error) => error)
  return [response.status, response.data.issue[0].details.text]
})
await told('axios', "post('/Patient', object)", async () => (await over.post('/Patient', patient)).status)
await told('axios', 'put with If-Match', async () => {
  const { data, headers: got } = await over.post('/Patient', patient)
  return (await over.put(`/Patient/${data.id}`, { ...data, active: true }, { headers: { 'If-Match': got.etag } })).headers.etag
})
await told('axios', 'patch', async () => {
  const { data } = await over.post('/Patient', patient)
  return (await over.patch(`/Patient/${data.id}`, OFF, { headers: { 'content-type': 'application/json-patch+json' } })).data.active
})
await told('axios', 'patch with its own Content-Type', async () => {
  const { data } = await over.post('/Patient', patient)
  return (await over.patch(`/Patient/${data.id}`, OFF)).data.active
})
await told('axios', 'delete', async () => {
  const { data } = await over.post('/Patient', patient)
  return (await over.delete(`/Patient/${data.id}`)).status
})
await told(
  'axios',
  'post of URLSearchParams',
  async () => (await over.post('/Patient/_search', new URLSearchParams({ family: 'Lovell' }))).data.total,
)
await told('axios', 'error.response.data', async () => {
  const { response } = await over.get('/Patient/none').catch((error) => error)
  return [response.status, response.data.resourceType]
})

const asking = got.extend({ prefixUrl: base, headers, responseType: 'json' })
await told('got', "get('Patient/p')", async () => (await asking.get('Patient/p')).body.name[0].family)
await told('got', 'paginate.all', async () => {
  const next = ({ response }) => {
    const link = response.body.link.find(({ relation }) => relation === 'next')
    return link === undefined ? false : { url: new URL(link.url), prefixUrl: '', searchParams: undefined }
  }
  const found = await asking.paginate.all('Patient', {
    searchParams: { _count: 1 },
    pagination: { transform: ({ body }) => body.entry ?? [], paginate: next },
  })
  return new Set(found.map(({ resource }) => resource.id)).size > 1
})
await told('got', "post('Patient', { json })", async () => (await asking.post('Patient', { json: patient })).statusCode)
await told('got', 'post as a form', async () => (await asking.post('Patient/_search', { form: { family: 'Lovell' } })).body.total)
await told('got', 'HTTPError', async () => {
  const { name, response } = await asking.get('Patient/none').catch((error) => error)
  return [name, response.body.issue[0].code]
})

const short = ky.create({ prefix: `${base}/`, headers, retry: 0 })
await told('ky', "get('Patient/p').json()", async () => (await short.get('Patient/p').json()).name[0].family)
await told(
  'ky',
  "get('Patient', { searchParams })",
  async () => (await short.get('Patient', { searchParams: { family: 'Lovell' } }).json()).total,
)
await told('ky', "post('Patient', { json })", async () => (await short.post('Patient', { json: patient })).status)
await told('ky', 'patch with the type of a JSON Patch', async () => {
  const { id } = await short.post('Patient', { json: patient }).json()
  const type = { 'content-type': 'application/json-patch+json' }
  return (await short.patch(`Patient/${id}`, { json: OFF, headers: type }).json()).active
})
await told('ky', 'HTTPError', async () => (await short.get('Patient/none').catch((error) => error)).response.status)

const expecting = supertest(base)
await told('supertest', 'expect(status), expect(type)', async () => {
  const { body } = await expecting
    .get('/Patient/p')
    .set(headers)
    .expect(200)
    .expect('Content-Type', /application\/fhir\+json/)
  return body.name[0].family
})
await told('supertest', 'send(object)', async () =>
  (await expecting.post('/Patient').set(headers).send(patient).expect(201)).headers.location.startsWith(base),
)
await told(
  'supertest',
  'send(object) as FHIR',
  async () =>
    (
      await expecting
        .post('/Patient')
        .set({ ...headers, ...FHIR })
        .send(patient)
        .expect(201)
    ).body.id.length > 0,
)
await told(
  'supertest',
  'query',
  async () => (await expecting.get('/ValueSet/vs/$expand').set(headers).query({ filter: 'bet' })).body.expansion.total,
)
await told(
  'supertest',
  "type('form')",
  async () => (await expecting.post('/Patient/_search').set(headers).type('form').send({ family: 'Lovell' })).body.total,
)
await told(
  'supertest',
  'auth(token, { type: bearer })',
  async () => (await expecting.get('/Patient/p').auth(token, { type: 'bearer' })).status,
)

const { Fhir } = fhirPackage
const library = new Fhir()
const answered = async (path) => (await over.get(path)).data
await told('fhir', 'validate of a Patient', async () => library.validate(await answered('/Patient/p')).valid)
await told(
  'fhir',
  'validate of a searchset',
  async () => library.validate(await answered('/Observation?_include=Observation:subject')).valid,
)
await told('fhir', 'validate of an expansion', async () => library.validate(await answered('/ValueSet/vs/$expand')).valid)
await told('fhir', 'validate of the CapabilityStatement', async () => {
  const { valid, messages } = library.validate(await answered('/metadata'))
  return valid || messages.filter(({ severity }) => severity === 'error').map(({ location, message }) => `${location}: ${message}`)
})
await told('fhir', 'jsonToXml and xmlToJson', async () => {
  const observation = await answered('/Observation/o')
  const json = library.xmlToJson(library.jsonToXml(JSON.stringify(observation)))
  return (await over.post('/Observation', JSON.parse(json), { headers: FHIR })).status
})
await told('fhir', 'evaluate', async () => library.evaluate(await answered('/Patient/p'), 'Patient.name.family'))

const services = initServices(base)
services.setInstanceToken({ access_token: token, token_type: 'Bearer' })
const result = async (promise) => {
  const { status, data, error } = await promise
  if (status === 'Success') return data
  throw new Error(JSON.stringify(error?.issue?.[0]?.details?.text ?? error))
}
await told('fhir-react', 'getFHIRResource', async () => (await result(services.getFHIRResource({ reference: 'Patient/p' }))).name[0].family)
await told('fhir-react', 'getFHIRResources', async () => (await result(services.getFHIRResources('Patient', { family: 'Lovell' }))).total)
await told(
  'fhir-react',
  'getAllFHIRResources',
  async () => (await result(services.getAllFHIRResources('Patient', { family: 'Lovell' }))).entry.length,
)
await told('fhir-react', 'createFHIRResource', async () => (await result(services.createFHIRResource(patient))).meta.versionId)
await told('fhir-react', 'saveFHIRResource', async () => {
  const made = await result(services.saveFHIRResource(patient))
  return (await result(services.saveFHIRResource({ ...made, active: true }))).meta.versionId
})
await told('fhir-react', 'saveFHIRResources', async () => (await result(services.saveFHIRResources([patient], 'transaction'))).entry.length)
await told('fhir-react', 'patchFHIRResource', async () => {
  const { id } = await result(services.createFHIRResource(patient))
  return (await result(services.patchFHIRResource({ resourceType: 'Patient', id, active: true }))).active
})
await told('fhir-react', 'getConcepts', async () => (await result(services.getConcepts('vs'))).expansion.contains.length)
await told('fhir-react', 'forceDeleteFHIRResource', async () => {
  const { id } = await result(services.createFHIRResource(patient))
  return (await services.forceDeleteFHIRResource({ reference: `Patient/${id}` })).status
})

const bonfhir = new FetchFhirClient({ baseUrl: base, auth: headers.authorization })
const named = () => build('Patient', { name: [{ family: 'Made' }] })
const given = (values) => Object.entries(values).map(([name, valueUri]) => ({ name, valueUri }))
await told('bonfhir', 'capabilities', async () => (await bonfhir.capabilities()).fhirVersion)
await told('bonfhir', "capabilities('terminology')", async () => (await bonfhir.capabilities('terminology')).resourceType)
await told('bonfhir', 'create', async () => (await bonfhir.create(named())).meta.versionId)
await told('bonfhir', 'create with criteria', async () => {
  const made = await bonfhir.create(named(), { search: (search) => search.family('Nobody') }).catch((error) => error)
  return made.message
})
await told('bonfhir', "createOr('return')", async () => (await bonfhir.createOr('return', named(), (search) => search._id('p')))[0].id)
await told('bonfhir', "createOr('replace')", async () => {
  const { id } = await bonfhir.create(named())
  return (await bonfhir.createOr('replace', { ...named(), id, active: true }, (search) => search._id(id)))[0].active
})
await told('bonfhir', 'read', async () => (await bonfhir.read('Patient', 'p')).name[0].family)
await told('bonfhir', 'vread', async () => (await bonfhir.vread('Patient', 'p', '1')).name[0].family)
await told('bonfhir', 'save', async () => (await bonfhir.save({ ...(await bonfhir.create(named())), active: true })).meta.versionId)
await told('bonfhir', 'update with criteria', async () => {
  const { id } = await bonfhir.create(named())
  return (await bonfhir.update(named(), { search: (search) => search._id(id) })).meta.versionId
})
await told('bonfhir', 'update, with preventConcurrentUpdates', async () => {
  const careful = new FetchFhirClient({ ...bonfhir.options, preventConcurrentUpdates: true })
  const made = await careful.create(named())
  await careful.update({ ...made, active: true })
  return (await careful.update(made).catch((error) => error)).status
})
await told('bonfhir', 'patch', async () => {
  const { id } = await bonfhir.create(named())
  return (await bonfhir.patch('Patient', id, (patch) => patch.add('/active', false))).active
})
await told('bonfhir', 'search', async () => (await bonfhir.search('Patient', (search) => search.family('Lovell')._count(1))).total)
await told('bonfhir', 'search with _include', async () => {
  const found = await bonfhir.search('Observation', (search) => search._id('o')._include('Observation', 'subject'))
  return found.type('Patient')[0].id
})
await told('bonfhir', 'searchOne', async () => (await bonfhir.searchOne('Patient', (search) => search._id('p'))).id)
await told('bonfhir', 'searchAllPages', async () => {
  const all = await bonfhir.searchAllPages('Patient', (search) => search._count(2))
  return all.searchMatch().length > 2
})
await told('bonfhir', 'history', async () => (await bonfhir.history('Patient', 'p')).bundle.entry.length)
await told('bonfhir', 'batch', async () => {
  const batch = bonfhir.batch()
  const [read, found] = [batch.read('Patient', 'p'), batch.search('Patient', '_id=p')]
  await batch.send()
  return [read.resource.id, found.resource.searchMatchOne().id]
})
await told('bonfhir', 'transaction with references', async () => {
  const transaction = bonfhir.transaction()
  const subject = transaction.create(named()).reference
  const made = transaction.create(build('Observation', { status: 'final', code: { text: 'x' }, subject }))
  await transaction.send()
  return made.resource.subject.reference.startsWith('Patient/')
})
await told('bonfhir', "execute of '$expand'", async () => {
  const call = { operation: '$expand', resourceType: 'ValueSet', parameters: given({ url: 'http://a.example/vs' }) }
  return (await bonfhir.execute(call)).expansion.total
})
await told('bonfhir', "execute of '$validate', by POST", async () => {
  const call = { operation: '$validate', resourceType: 'Patient', affectsState: true }
  return (await bonfhir.execute({ ...call, parameters: [{ name: 'resource', resource: named() }] })).id
})
await told('bonfhir', 'delete', async () => {
  const { id } = await bonfhir.create(named())
  await bonfhir.delete('Patient', id)
  return (await bonfhir.read('Patient', id).catch((error) => error)).status
})
