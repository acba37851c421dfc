import { httpStorage } from '@fhir-ops/http'

const base = 'https://fhir.example.org/fhir'
const patient = (id) => ({ resourceType: 'Patient', id, meta: { versionId: '1' } })
const page = (id, relation, parameters) => ({
  resourceType: 'Bundle',
  type: 'searchset',
  link: [
    { relation: 'self', url: `${base}/Patient?active=true` },
    ...(relation === undefined ? [] : [{ relation: 'next', url: `${base}/Patient?${parameters}` }]),
  ],
  entry: [{ resource: patient(id), search: { mode: 'match' } }],
})
const fetch = async (url) => {
  const { pathname, searchParams } = new URL(url)
  const isSecond = searchParams.has('page')
  const answer = pathname.endsWith('/ada') ? patient('ada') : page(isSecond ? 'bob' : 'ada', isSecond ? undefined : 'next', 'page=2')
  return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/fhir+json', etag: 'W/"1"' } })
}
const storage = httpStorage({ baseUrl: base, fetch, token: () => 'ours', keptBytes: 10_000 })
const query = { type: 'Patient', where: { kind: 'and', conditions: [] }, parameters: [['active', 'true']], limit: 1 }
const { resource } = await storage.read('Patient', 'ada')
const first = await storage.search(query)
const second = await storage.search({ ...query, after: first.next })
console.log(resource.id, first.items[0].id, second.items[0].id, String(second.next))
