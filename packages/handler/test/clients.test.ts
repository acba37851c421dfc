import { readFileSync } from 'node:fs'
import { isProfileLoaded, MedplumClient } from '@medplum/core'
import { Client as FhirKitClient } from 'fhir-kit-client'
import fhirpath from 'fhirpath'
import fhirpathR4 from 'fhirpath/fhir-context/r4'
import * as openid from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { calledServer, ISSUER, SYSTEM } from './called-server.js'
import { CLIENT_PAGE, clientPage, presentPage } from './client-page.js'
import { at, FULL_SCOPES, USER, userInfo, type RunningServer } from './running-server.js'

let running: RunningServer
let base = ''

beforeAll(async () => {
  running = await calledServer()
  base = `${running.base}/fhir/R4`
})
afterAll(() => running.stop())

const patient = (family: string): { resourceType: 'Patient'; name: { family: string }[]; identifier: { value: string }[] } => ({
  resourceType: 'Patient',
  name: [{ family }],
  identifier: [{ value: family }],
})
const translation = {
  resourceType: 'Parameters' as const,
  parameter: [
    { name: 'url', valueUri: 'http://a.example/cm' },
    { name: 'system', valueUri: SYSTEM },
    { name: 'code', valueCode: 'a' },
  ],
}
const OFF = [{ op: 'replace', path: '/active', value: false }] as const

/** What is called of fhirclient, whose own types bring those of a browser to all that is compiled with them. */
interface SmartClient {
  request(url: string | object, options?: object): Promise<unknown>
  readonly patient: { read(): Promise<unknown>; request(url: string): Promise<unknown> }
  create(resource: object): Promise<unknown>
  update(resource: object): Promise<unknown>
  patch(url: string, operations: readonly object[]): Promise<unknown>
  delete(url: string): Promise<unknown>
  getFhirVersion(): Promise<string>
  getFhirRelease(): Promise<number>
}

type Smart = (request: object, response: object, storage: object) => { client(state: object): SmartClient }

const SMART: string = 'fhirclient'

interface Row {
  readonly client: string
  readonly call: string
  readonly result: string
}

const rows: Row[] = []

/** One call of a client; what it gives is compared, and told on the page. */
function call(
  { client, call: name, result = 'works' }: Omit<Row, 'result'> & Partial<Row>,
  run: () => Promise<unknown>,
  expected: unknown,
): void {
  it(`${client}: ${name}`, async () => {
    expect(await run()).toEqual(expected)
    rows.push({ client, call: name, result })
  })
}

/** What is not offered is refused in the way that the client expects. */
function refusal(client: string, name: string, run: () => Promise<unknown>, reason: string): void {
  it(`${client}: ${name} is refused`, async () => {
    const error: unknown = await run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(Error)
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).toMatch(
      /no operation|nothing at this path|no resource type|not found|404/i,
    )
    rows.push({ client, call: name, result: reason })
  })
}

const versionOf = (name: string): string =>
  String(JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8')).version)
const tokenOf = async (): Promise<string> => (await running.sessions.create({ user: USER, scopes: FULL_SCOPES })).token

// The page lists the calls in this order, and some need what others have stored.
describe('clients that others have written, as they are', { shuffle: false }, () => {
  describe('Medplum', () => {
    const name = '@medplum/core'
    let client: MedplumClient
    beforeAll(async () => {
      client = new MedplumClient({ baseUrl: `${running.base}/`, fetch: (...request) => fetch(...request) })
      client.setAccessToken(await tokenOf())
    })
    const does = (what: string, run: () => Promise<unknown>, expected: unknown = true, result?: string): void =>
      call({ client: name, call: what, ...(result !== undefined && { result }) }, run, expected)

    does("get('auth/me')", async () => at(await client.get('auth/me'), 'sub'), 'ann')
    does("get('oauth2/userinfo')", async () => at(await client.get('oauth2/userinfo'), 'sub'), 'ann')
    does('createResource', async () => (await client.createResource(patient('create'))).id !== undefined)
    does(
      'createResourceIfNoneExist',
      async () => at(await client.createResourceIfNoneExist(patient('create'), 'identifier=create'), 'meta', 'versionId'),
      '1',
    )
    does(
      'upsertResource',
      async () => (await client.upsertResource(patient('upsert'), { identifier: 'upsert' })).identifier?.[0]?.value,
      'upsert',
    )
    does('readResource', async () => (await client.readResource('Patient', 'p')).name?.[0]?.family, 'Lovell')
    does('updateResource', async () => at(await client.updateResource({ ...patient('update'), id: 'u' }), 'meta', 'versionId'), '1')
    does('patchResource', async () => (await client.patchResource('Patient', 'p', [...OFF])).active, false)
    does('readHistory', async () => (await client.readHistory('Patient', 'p')).entry?.length, 2)
    does('readHistory with count', async () => (await client.readHistory('Patient', 'p', { count: 1 })).entry?.length, 1)
    does('readVersion', async () => (await client.readVersion('Patient', 'p', '1')).active, true)
    does('search', async () => (await client.search('Patient', 'family=Lovell')).total, 1)
    does('searchResources', async () => (await client.searchResources('Patient', { family: 'Lovell' })).length, 1)
    does('searchOne', async () => (await client.searchOne('Patient', new URLSearchParams({ family: 'Lovell' })))?.id, 'p')
    does('searchOne of none', async () => (await client.searchOne('Patient', 'family=None')) === undefined)
    does(
      'search with _sort, _total, _elements',
      async () =>
        (await client.search('Patient', { _sort: '-_lastUpdated', _total: 'accurate', _elements: 'name', _count: 1 })).entry?.length,
      1,
    )
    does('readReference', async () => (await client.readReference({ reference: 'Patient/p' })).id, 'p')
    does('readCanonical', async () => (await client.readCanonical('ValueSet', 'http://a.example/vs'))?.id, 'vs')
    does(
      'requests in one batch (autoBatchTime)',
      async () => {
        const batching = new MedplumClient({
          baseUrl: `${running.base}/`,
          fetch: (...request) => fetch(...request),
          cacheTime: 60_000,
          autoBatchTime: 20,
        })
        batching.setAccessToken(await tokenOf())
        const [one, found, none] = await Promise.all([
          batching.readResource('Patient', 'p'),
          batching.searchResources('Observation', 'subject=Patient/p'),
          batching.readResource('Patient', 'none').catch(String),
        ])
        return [one.id, found.length, none]
      },
      ['p', 1, 'OperationOutcomeError: There is no Patient/none.'],
    )
    does('searchResourcePages', async () => {
      let pages = 0
      for await (const page of client.searchResourcePages('Patient', { _count: '1' })) pages += page.length
      return pages > 2
    })
    does('validateResource', async () => (await client.validateResource(patient('x'))).id, 'ok')
    does(
      'valueSetExpand',
      async () => (await client.valueSetExpand({ url: 'http://a.example/vs', filter: 'bet' })).expansion?.contains?.[0]?.code,
      'b',
    )
    does('executeBot with an object', async () => client.executeBot('echo', { a: 1 }), { a: 1 })
    does('executeBot with a resource', async () => client.executeBot('echo', { resourceType: 'Basic', id: 'x' }), {
      resourceType: 'Basic',
      id: 'x',
    })
    does('executeBot with a text', async () => client.executeBot('echo', 'plain', 'text/plain'), 'plain')
    does(
      'executeBot with a form',
      async () => client.executeBot('echo', new URLSearchParams({ a: '1' }).toString(), 'application/x-www-form-urlencoded'),
      { a: '1' },
    )
    does(
      'executeBatch',
      async () =>
        (await client.executeBatch({ resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url: 'Patient/p' } }] }))
          .entry?.[0]?.response?.status,
      '200',
    )
    does("post(fhirUrl('ConceptMap', '$translate'))", async () =>
      at(await client.post(client.fhirUrl('ConceptMap', '$translate'), translation), 'parameter', 0, 'valueBoolean'),
    )
    does(
      "post(fhirUrl('Measure', id, '$evaluate-measure'))",
      async () => {
        const parameter = [
          { name: 'periodStart', valueDate: '2026-01-01' },
          { name: 'periodEnd', valueDate: '2026-12-31' },
        ]
        return at(
          await client.post(client.fhirUrl('Measure', 'm', '$evaluate-measure'), { resourceType: 'Parameters', parameter }),
          'resourceType',
        )
      },
      'MeasureReport',
    )
    does(
      'createComment',
      async () => (await client.createComment(await client.readResource('Patient', 'p'), 'text')).payload?.[0]?.contentString,
      'text',
    )
    does(
      'createBinary',
      async () => (await client.createBinary({ data: 'some text', contentType: 'text/plain', filename: 'a.txt' })).contentType,
      'text/plain',
    )
    does(
      'createAttachment',
      async () => client.createAttachment({ data: new Uint8Array([1]), contentType: 'application/pdf', filename: 'a.pdf' }),
      { contentType: 'application/pdf', title: 'a.pdf', url: undefined },
      'works, without `url`: a Binary of R4 has none to take it from; `createBinary` gives the id',
    )
    does(
      'createMedia, createDocumentReference',
      async () => {
        const file = { data: 'some text', contentType: 'text/plain', filename: 'a.txt' }
        return [(await client.createMedia(file)).status, (await client.createDocumentReference(file)).content[0]?.attachment.title]
      },
      ['completed', 'a.txt'],
    )
    does(
      'createPdf',
      async () => {
        const printing = new MedplumClient({
          baseUrl: `${running.base}/`,
          fetch: (...request) => fetch(...request),
          createPdf: async () => new Uint8Array([37, 80, 68, 70]),
        })
        printing.setAccessToken(await tokenOf())
        return (await printing.createPdf({ docDefinition: { content: ['Hello'] } })).contentType
      },
      'application/pdf',
      'works, with a `createPdf` in the options of the client',
    )
    does(
      'getProfile',
      async () => client.getProfile() === undefined,
      true,
      "`undefined`: a user of this server is not a resource; `get('auth/me')` has its claims",
    )
    does(
      'download of a Binary',
      async () => {
        const { id } = await client.createBinary({ data: new Uint8Array([1, 2, 255]), contentType: 'application/pdf' })
        const content = await client.download(client.fhirUrl('Binary', String(id)).toString())
        return [content.type, [...new Uint8Array(await content.arrayBuffer())]]
      },
      ['application/pdf', [1, 2, 255]],
    )
    does(
      'requestProfileSchema',
      async () => {
        const url = 'http://hl7.org/fhir/StructureDefinition/bodyweight'
        const before = isProfileLoaded(url)
        await client.requestProfileSchema(url)
        return [before, isProfileLoaded(url)]
      },
      [false, true],
    )
    does('deleteResource', async () => (await client.deleteResource('Patient', 'u'), 'done'), 'done')
    does(
      "post('auth/revoke')",
      async () => {
        const other = await running.sessions.create({ user: USER, scopes: FULL_SCOPES })
        await client.post('auth/revoke', { loginId: other.loginId })
        return (await userInfo(running, other.token)).status
      },
      401,
    )
    refusal(name, 'readPatientEverything', () => client.readPatientEverything('p'), 'not offered: 404')
    refusal(name, 'readPatientSummary', () => client.readPatientSummary('p'), 'not offered: 404')
    refusal(name, 'bulkExport', () => client.bulkExport(), 'not offered: 404')
    refusal(name, 'requestSchema', () => client.requestSchema('Patient'), 'not offered: 404, it asks with GraphQL')
    refusal(
      name,
      'requestProfileSchema with expandProfile',
      () => client.requestProfileSchema('http://hl7.org/fhir/StructureDefinition/bodyheight', { expandProfile: true }),
      'not offered: 404',
    )
    refusal(name, 'readResourceGraph', () => client.readResourceGraph('Patient', 'p', 'g'), 'not offered: 404')
    refusal(name, 'invite', () => client.invite('x', { resourceType: 'Patient', firstName: 'A', lastName: 'B' }), 'not offered: 404')
    refusal(name, 'pushToAgent', () => client.pushToAgent({ reference: 'Agent/x' }, 'Device/y', 'MSH|'), 'not offered: 404')
    refusal(name, 'sendEmail', () => client.sendEmail({ to: 'a@b.example', subject: 's', text: 't' }), 'not offered: 404')
    refusal(
      name,
      "get(fhirUrl('Subscription', id, '$get-ws-binding-token'))",
      () => client.get(client.fhirUrl('Subscription', 'x', '$get-ws-binding-token')),
      'not offered: 404, nothing is sent to subscribers',
    )
    refusal(name, 'graphql', () => client.graphql('{ Patient { id } }'), 'not offered: 404')
    does(
      'signOut',
      async () => {
        const token = String(client.getAccessToken())
        await client.signOut()
        return (await userInfo(running, token)).status
      },
      401,
    )
  })

  describe('SMART', () => {
    const name = 'fhirclient'
    let client: SmartClient
    beforeAll(async () => {
      const request = { headers: {}, url: '/' }
      const { default: smart }: { default: Smart } = await import(SMART)
      const storage = { get: async () => undefined, set: async (_: string, value: unknown) => value, unset: async () => true }
      client = smart(request, {}, storage).client({
        serverUrl: base,
        tokenResponse: { access_token: await tokenOf(), patient: 'p' },
      })
    })
    const does = (what: string, run: () => Promise<unknown>, expected: unknown = true): void =>
      call({ client: name, call: what }, run, expected)

    does("request('Patient/p')", async () => at(await client.request('Patient/p'), 'id'), 'p')
    does('request of a search, flat, all pages', async () => {
      const all = await client.request('Patient?_count=1', { flat: true, pageLimit: 0 })
      return Array.isArray(all) && all.length > 1
    })
    does(
      'request with references resolved',
      async () => at(await client.request('Observation/o', { resolveReferences: 'subject' }), 'subject', 'id'),
      'p',
    )
    does(
      'request with pageLimit',
      async () => {
        const pages = await client.request('Patient?_count=1', { pageLimit: 2 })
        return Array.isArray(pages) && pages.length
      },
      2,
    )
    does(
      'request with onPage',
      async () => {
        let pages = 0
        await client.request('Patient?_count=1', { pageLimit: 2, onPage: () => void pages++ })
        return pages
      },
      2,
    )
    does(
      'request with references next to the resources (graph: false)',
      async () => at(await client.request('Observation', { resolveReferences: 'subject', graph: false }), 'references', 'Patient/p', 'id'),
      'p',
    )
    does(
      'request with includeResponse',
      async () => at(await client.request({ url: 'Patient/p', includeResponse: true }), 'response', 'status'),
      200,
    )
    does(
      "patient.read, patient.request('Observation')",
      async () => [at(await client.patient.read(), 'id'), at(await client.patient.request('Observation'), 'total')],
      ['p', 1],
    )
    does('create', async () => typeof at(await client.create({ resourceType: 'Patient' }), 'id'), 'string')
    does('update', async () => at(await client.update({ resourceType: 'Patient', id: 'smart', active: true }), 'id'), 'smart')
    does('patch', async () => at(await client.patch('Patient/smart', [...OFF]), 'active'), false)
    does('delete', async () => (await client.delete('Patient/smart'), 'done'), 'done')
    does('getFhirVersion', async () => client.getFhirVersion(), '4.0.1')
    does('getFhirRelease', async () => client.getFhirRelease(), 4)
    does(
      "request('ValueSet/$expand')",
      async () => at(await client.request('ValueSet/$expand?url=http://a.example/vs'), 'expansion', 'total'),
      2,
    )
  })

  describe('fhir-kit-client', () => {
    const name = 'fhir-kit-client'
    let client: InstanceType<typeof FhirKitClient>
    beforeAll(async () => {
      client = new FhirKitClient({ baseUrl: base, bearerToken: await tokenOf() })
    })
    const does = (what: string, run: () => Promise<unknown>, expected: unknown = true, result?: string): void =>
      call({ client: name, call: what, ...(result !== undefined && { result }) }, run, expected)

    does('capabilityStatement', async () => at(await client.capabilityStatement(), 'fhirVersion'), '4.0.1')
    does(
      'smartAuthMetadata',
      async () => {
        const { authorizeUrl, tokenUrl } = await client.smartAuthMetadata()
        return [String(authorizeUrl), String(tokenUrl)]
      },
      [ISSUER.authorization_endpoint, ISSUER.token_endpoint],
    )
    does('create', async () => typeof at(await client.create({ resourceType: 'Patient', body: patient('kit') }), 'id'), 'string')
    does('read', async () => at(await client.read({ resourceType: 'Patient', id: 'p' }), 'id'), 'p')
    does('vread', async () => at(await client.vread({ resourceType: 'Patient', id: 'p', version: '1' }), 'active'))
    does(
      'update',
      async () => at(await client.update({ resourceType: 'Patient', id: 'kit', body: { ...patient('k'), id: 'kit' } }), 'id'),
      'kit',
    )
    does('patch', async () =>
      at(await client.patch({ resourceType: 'Patient', id: 'kit', jsonPatch: [{ op: 'add', path: '/active', value: true }] }), 'active'),
    )
    does('delete', async () => (await client.delete({ resourceType: 'Patient', id: 'kit' }), 'done'), 'done')
    does('search', async () => at(await client.search({ resourceType: 'Patient', searchParams: { family: 'Lovell' } }), 'total'), 1)
    does(
      'search by POST',
      async () =>
        at(await client.search({ resourceType: 'Patient', searchParams: { family: 'Lovell' }, options: { postSearch: true } }), 'total'),
      1,
    )
    does(
      'search of a compartment',
      async () =>
        at(
          await client.search({ resourceType: 'Observation', compartment: { resourceType: 'Patient', id: 'p' }, searchParams: {} }),
          'total',
        ),
      1,
    )
    does(
      'nextPage',
      async () => {
        const first = await client.search({ resourceType: 'Patient', searchParams: { _count: 1 } })
        return at(await client.nextPage({ bundle: first } as never), 'resourceType')
      },
      'Bundle',
    )
    does(
      'nextPage to the last',
      async () => {
        let pages = 0
        let bundle: unknown = await client.search({ resourceType: 'ValueSet', searchParams: { url: 'http://a.example/vs', _count: 1 } })
        for (; bundle !== undefined; bundle = await client.nextPage({ bundle } as never)) pages++
        return pages
      },
      1,
    )
    does(
      'prevPage',
      async () => {
        const first = await client.search({ resourceType: 'Patient', searchParams: { _count: 1 } })
        const second = await client.nextPage({ bundle: first } as never)
        return (await client.prevPage({ bundle: second } as never)) === undefined
      },
      true,
      '`undefined`: pages lead forwards only, as R4 allows',
    )
    does('resolve', async () => at(await client.resolve({ reference: 'Patient/p' }), 'id'), 'p')
    does(
      'systemSearch',
      async () => at(await client.systemSearch({ searchParams: { _type: 'ValueSet,ConceptMap', _id: 'vs' } }), 'total'),
      1,
    )
    does(
      'update with searchParams',
      async () =>
        at(
          await client.update({ resourceType: 'Patient', searchParams: { identifier: 'cond' }, body: patient('cond') }),
          'identifier',
          0,
          'value',
        ),
      'cond',
    )
    does('request', async () => at(await client.request('Patient/p'), 'id'), 'p')
    does('history of a resource', async () => at(await client.history({ resourceType: 'Patient', id: 'p' }), 'type'), 'history')
    does('history of a type', async () => at(await client.history({ resourceType: 'Patient' }), 'type'), 'history')
    does('history of all', async () => at(await client.history(), 'type'), 'history')
    does(
      'batch',
      async () => at(await client.batch({ body: { resourceType: 'Bundle', type: 'batch', entry: [] } }), 'type'),
      'batch-response',
    )
    does(
      'transaction',
      async () => at(await client.transaction({ body: { resourceType: 'Bundle', type: 'transaction', entry: [] } }), 'type'),
      'transaction-response',
    )
    does(
      'operation by POST',
      async () => at(await client.operation({ resourceType: 'ConceptMap', name: '$translate', input: translation }), 'resourceType'),
      'Parameters',
    )
    does(
      'operation by GET',
      async () =>
        at(
          await client.operation({ resourceType: 'ValueSet', name: '$expand', method: 'GET', input: { url: 'http://a.example/vs' } }),
          'resourceType',
        ),
      'ValueSet',
    )
  })

  describe('fhirpath.js, which asks a terminology server', () => {
    const name = 'fhirpath'
    const observation = {
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: SYSTEM, code: 'a' }] },
      subject: { reference: 'Patient/p' },
    }
    const evaluated = async (expression: string): Promise<unknown> => {
      const httpHeaders = { [base]: { Authorization: `Bearer ${await tokenOf()}` } }
      const options = { async: true, terminologyUrl: base, fhirServerUrl: base, httpHeaders } as const
      const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: SYSTEM }] } }
      return fhirpath.evaluate(observation, expression, { valueSet }, fhirpathR4, options)
    }
    const does = (expression: string, expected: unknown, result?: string): void =>
      call({ client: name, call: expression, ...(result !== undefined && { result }) }, () => evaluated(expression), expected)

    does("code.coding.memberOf('http://a.example/vs')", [true])
    does("code.memberOf('http://a.example/vs')", [true])
    does("code.coding.code.memberOf('http://a.example/vs')", [true])
    does("status.memberOf('http://hl7.org/fhir/ValueSet/observation-status|4.0.1')", [true])
    does("status.memberOf('http://a.example/vs')", [false])
    does("code.memberOf('http://a.example/none')", [], 'empty: the server has no such value set')
    does("%terminologies.expand('http://a.example/vs', 'filter=bet').expansion.contains.code", ['b'])
    does('%terminologies.expand(%valueSet).expansion.contains.code', ['a', 'b'])
    does("%terminologies.lookup(code.coding).parameter.where(name = 'display').value", ['Alpha'])
    does("%terminologies.validateVS('http://a.example/vs', code).parameter.where(name = 'result').value", [true])
    does("%terminologies.validateCS('http://a.example/cs', code.coding).parameter.where(name = 'result').value", [true])
    does("%terminologies.validateCS('http://a.example/cs', 'none').parameter.where(name = 'result').value", [false])
    does("%terminologies.subsumes('http://a.example/cs', 'a', 'a')", ['equivalent'])
    does(
      "%terminologies.translate('http://a.example/cm', code.coding).parameter.where(name = 'match').part.where(name = 'concept').value.code",
      ['x'],
    )
    does('subject.resolve().name.family', ['Lovell'])
  })

  describe('openid-client', () => {
    const name = 'openid-client'
    const does = (what: string, run: () => Promise<unknown>, expected: unknown = true): void =>
      call({ client: name, call: what }, run, expected)
    const configured = (): openid.Configuration => {
      const server = {
        issuer: running.base,
        userinfo_endpoint: `${running.base}/oauth2/userinfo`,
        revocation_endpoint: `${running.base}/oauth2/revoke`,
      }
      const config = new openid.Configuration(server, 'app', undefined, openid.None())
      openid.allowInsecureRequests(config)
      return config
    }
    does('fetchUserInfo', async () => (await openid.fetchUserInfo(configured(), await tokenOf(), 'ann')).email, 'ann@example.org')
    does(
      'fetchUserInfo refuses the claims of another subject',
      async () => openid.fetchUserInfo(configured(), await tokenOf(), 'ben').catch(() => 'refused'),
      'refused',
    )
    does(
      'fetchUserInfo of a wrong token',
      async () =>
        openid.fetchUserInfo(configured(), 'wrong', 'ann').catch((error: unknown) => at(error, 'cause', 0, 'parameters', 'error')),
      'invalid_token',
    )
    does(
      'tokenRevocation',
      async () => {
        const token = await tokenOf()
        await openid.tokenRevocation(configured(), token)
        await openid.tokenRevocation(configured(), token)
        return (await userInfo(running, token)).status
      },
      401,
    )
  })
})

it('docs/clients.md says what was called', async () => {
  const byClient = [...Map.groupBy(rows, ({ client }) => client)]
  const page = byClient.reduce((text, [client, own]) => clientPage(text, client, { version: versionOf(client), rows: own }), presentPage())
  await expect(page).toMatchFileSnapshot(CLIENT_PAGE)
})
