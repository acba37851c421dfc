import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { calledServer } from '../../handler/test/called-server.js'
import { CLIENT_PAGE, clientPage, presentPage, type CallRow } from '../../handler/test/client-page.js'
import { type RunningServer } from '../../handler/test/running-server.js'
import { hapiClient, pythonClients, webClients, type CallingProgram } from './called-programs.js'

/** A call, what it gives, and what is said of it where that is more than that it works. */
type Expected = readonly [call: string, answer: string | RegExp, result?: string]

let running: RunningServer
beforeAll(async () => void (running = await calledServer()))
afterAll(() => running.stop())

/** What was called, to be written to the page when all have been. */
const called: { readonly client: string; readonly version: string; readonly rows: readonly CallRow[] }[] = []

const inClients = (file: string): string => readFileSync(join(import.meta.dirname, '../clients', file), 'utf8')

const HAPI: readonly Expected[] = [
  ['capabilities()', '4.0.1'],
  ['create()', 'true'],
  ['create().conditional()', 'true'],
  ['read()', 'Made'],
  ['read() of a version', '1'],
  ['update()', '2'],
  ['update().conditional()', 'true'],
  ['patch()', 'false'],
  ['patch() with FHIRPath Patch', 'true'],
  ['search()', '1'],
  ['search().usingStyle(POST)', '1'],
  ['search().count(1), loadPage().next()', '1'],
  ['search().byUrl()', '2'],
  ['search() for a canonical with a version', '1'],
  ['history().onInstance()', '5'],
  ['history().onServer(), since', 'true'],
  ['transaction()', '201'],
  ['validate()', 'information'],
  ['operation() $expand', '2'],
  ['operation() $expand, useHttpGet()', '2'],
  ['operation() $translate', 'true'],
  ['create() with GZipContentInterceptor', 'true', 'works, with `gzipRequests`'],
  ['operation() $lookup', 'Alpha'],
  ['search().summaryMode()', 'true'],
  ['create(), update() and patch() with setSummary', 'true'],
  ['create() of a Binary', 'Binary'],
  ['delete()', 'done'],
  ['read() of what is deleted', 'ResourceGoneException'],
  ['update() of another version', 'PreconditionFailedException'],
  ['create() of what is not valid', 'UnprocessableEntityException'],
  ['a wrong token', 'AuthenticationException'],
]

const FHIRPY: readonly Expected[] = [
  ['resource.save() of a new one', 'True'],
  ['resource.save() of one that is there', '2'],
  [
    'resource.patch()',
    /must be a JSON Patch/,
    "refused: a part of a resource as a patch is not R4's; `execute(method='patch')` sends a JSON Patch",
  ],
  ["execute(method='patch')", 'False'],
  ['reference().to_resource()', 'Lovell'],
  ['resources().get()', 'Lovell'],
  ['resources().search().first()', 'p'],
  ['resources().search().fetch()', '1'],
  ['resources().limit(1).fetch_all()', 'True'],
  ['resources().count()', /_totalMethod/, "refused: `_totalMethod` is not R4's; `search(_summary='count').fetch_raw()` has the total"],
  ["resources().search(_summary='count').fetch_raw()", '1'],
  ['resources().include().fetch_raw()', '2'],
  ['get_or_create()', /If-None-Exist/, 'refused: R4 has the criteria of a create in a header, not in the URL'],
  ['resource.is_valid()', 'True'],
  ['resource.is_valid() of what is not', 'False'],
  ["resource.execute('$expand')", '2'],
  ["execute('ConceptMap/$translate')", 'True'],
  ['AsyncFHIRClient, async for', "['p']"],
  ['resource.delete()', 'done'],
  ['reference().to_resource() of what is deleted', 'ResourceNotFound'],
  ['an unknown search parameter', 'OperationOutcome'],
  ['a wrong token', 'AuthorizationError'],
]

const FHIRCLIENT: readonly Expected[] = [
  ['prepare(), capabilityStatement', '4.0.1'],
  ['authorize_url', 'https://issuer.example/authorize'],
  ['ready, with a token', 'True'],
  ['Patient.read()', 'Lovell'],
  ['create()', 'True'],
  ['update()', '2'],
  ['where().perform_resources()', '1'],
  ['where().perform_resources_iter(), all pages', 'True'],
  ['where().include()', '2'],
  ['reference.resolved()', 'Lovell'],
  ['a transaction as Bundle', '201'],
  ['ValueSet of $expand', '2'],
  ['Parameters of $translate', 'True'],
  ['delete()', 'done'],
  ['read() of what is not there', 'FHIRNotFoundException'],
  ['a wrong token', 'FHIRUnauthorizedException'],
]
const FHIR_RESOURCES: readonly Expected[] = [
  ['Patient', 'Lovell'],
  ['Bundle of a search', '1'],
  ['Bundle of a history', 'history'],
  ['CapabilityStatement', 'True'],
  ['StructureDefinition of R4', 'True'],
  ['ValueSet of $expand', 'True'],
  ['MeasureReport of $evaluate-measure', 'complete'],
  ['Library of $data-requirements', 'module-definition'],
  ['a Patient that is made and sent', "(201, '1980-12-10')"],
  ['a decimal and an instant with an offset, sent and read', '3.14'],
  ['Parameters for $translate, and of its answer', 'True'],
  ['a transaction', "(200, '201')"],
  ['$validate', 'information'],
  ['OperationOutcome of a refusal', "(400, 'error')"],
]
const FHIRPATHPY: readonly Expected[] = [
  ['Patient.name.family', "['Lovell']"],
  ['entry.resource.ofType(Observation).count()', /^\[[1-9]\d*\]$/],
  ["parameter.where(name = 'result').value", '[True]'],
  ['compile', "['a', 'b']"],
]
const HTTPIE: readonly Expected[] = [
  ['http /Patient/p', "('200', 'Patient')"],
  ['http /Patient family==Lovell _count==1', "('200', 'Bundle')"],
  ['http /ValueSet/vs/$expand filter==bet', "('200', 'ValueSet')"],
  ['http POST /Patient resourceType=Patient active:=true', "('201', 'Patient')"],
  ['http PUT /Patient/httpie resourceType=Patient id=httpie name[0][family]=Made', "('201', 'Patient')"],
  [
    'http PATCH /Patient/httpie Content-Type:application/json-patch+json [0][op]=add [0][path]=/active [0][value]:=true',
    "('200', 'Patient')",
  ],
  ['http DELETE /Patient/httpie', "('204', '')"],
  ['http --form POST /Patient/_search family=Lovell', "('200', 'Bundle')"],
  [
    'http POST /ConceptMap/$translate resourceType=Parameters parameter[0][name]=url parameter[0][valueUri]=http://a.example/cm parameter[1][name]=system parameter[1][valueUri]=http://a.example/cs parameter[2][name]=code parameter[2][valueCode]=a',
    "('200', 'Parameters')",
  ],
  ['http /Patient Accept:application/fhir+xml', "('406', 'OperationOutcome')", 'refused: 406, XML is not offered'],
  ['http POST /Patient < FILE', "('201', 'Patient')"],
]

const FHIR_PYRATE: readonly Expected[] = [
  ['get_bundle_total', '1'],
  ['steal_bundles', '1'],
  ['steal_bundles, two pages', '2'],
  ['steal_bundles_to_dataframe', '1'],
  ['steal_bundles_to_dataframe with fhir_paths', 'Lovell'],
  ['sail_through_search_space_to_dataframe', '1'],
  ['trade_rows_for_dataframe', '1'],
  ['query_to_dataframe', '1'],
]

const CUMULUS: readonly Expected[] = [
  ["request('GET', 'Patient/p')", 'Lovell'],
  ["request('GET', 'Observation?patient=p')", '1'],
  ['request, streamed', 'True'],
  ['capabilities', '4.0.1'],
  ['request of what is not there', 'FatalNetworkError'],
  ['a wrong token', 'FatalNetworkError'],
]

const PYMEDPLUM: readonly Expected[] = [
  ['create_resource', 'Made'],
  ['create_resource_if_none_exist', 'p'],
  ['read_resource', 'Lovell'],
  ['update_resource', '2'],
  ['update_resource of another version', 'PreconditionFailedError'],
  ['update_with_retry', 'female'],
  ['patch_resource', 'False'],
  ['vread_resource', 'Made'],
  ['clone_resource', 'NotFoundError', "not offered: 404, `$clone` is Medplum's own"],
  ['search_one', 'Patient'],
  ['search_resources', 'searchset'],
  ['search_resources, return_bundle', '1'],
  ['search_resource_pages', 'True'],
  ['search_with_options', '(1, 2)'],
  ['search_with_options, summary', 'True'],
  ['search_with_options, offset', 'BadRequestError', 'refused: R4 has no `_offset`; the link `next` leads to the next page'],
  ['search_with_options, at', 'BadRequestError', 'refused: in R4, `_at` is for a history'],
  ['execute_batch', 'p'],
  ['execute_transaction', 'p'],
  ['conditional_create_batch', '(1, 1)'],
  ['upload_binary, download_binary', "b'a letter'"],
  ['create_document_reference', 'DocumentReference'],
  ['expand_valueset', '2'],
  ['expand_valueset by id, filtered', '1'],
  ['lookup_concept', 'Alpha'],
  ['validate_valueset_code', 'True'],
  ['validate_codesystem_code', 'False'],
  ['translate_concept', 'True'],
  ['execute_operation $validate', 'information'],
  ['execute_operation $evaluate-measure, GET', 'MeasureReport'],
  ['execute_bot', "{'a': 1}"],
  ['list_bots', 'Bundle'],
  ["get('auth/me')", 'True'],
  ['AsyncMedplumClient', 'Lovell'],
  ['delete_resource', 'done'],
  ['read_resource of what is deleted', 'GoneError'],
  ['read_resource of what is not there', 'NotFoundError'],
  ['an unknown search parameter', 'BadRequestError'],
  ['execute_graphql', 'NotFoundError', 'not offered: 404'],
  ['export_ccda', 'NotFoundError', 'not offered: 404'],
  ['expunge_resource', 'NotFoundError', 'not offered: 404'],
  ['a wrong token', 'AuthenticationError'],
]

const WEB: Readonly<Record<string, readonly Expected[]>> = {
  axios: [
    ["get('/Patient/p')", 'Lovell'],
    ["get('/Patient', { params })", '1'],
    ['params with a list, with indexes: null', 'true'],
    [
      'params with a list',
      /_lastUpdated\[\]/,
      'refused: FHIR repeats the name without brackets, as `paramsSerializer: { indexes: null }` does',
    ],
    ["post('/Patient', object)", '201'],
    ['put with If-Match', 'W/"2"'],
    ['patch', 'false'],
    ['patch with its own Content-Type', 'false'],
    ['delete', '204'],
    ['post of URLSearchParams', '1'],
    ['error.response.data', '[404,"OperationOutcome"]'],
  ],
  got: [
    ["get('Patient/p')", 'Lovell'],
    ['paginate.all', 'true'],
    ["post('Patient', { json })", '201'],
    ['post as a form', '1'],
    ['HTTPError', '["HTTPError","not-found"]'],
  ],
  ky: [
    ["get('Patient/p').json()", 'Lovell'],
    ["get('Patient', { searchParams })", '1'],
    ["post('Patient', { json })", '201'],
    ['patch with the type of a JSON Patch', 'false'],
    ['HTTPError', '404'],
  ],
  supertest: [
    ['expect(status), expect(type)', 'Lovell'],
    ['send(object)', 'true'],
    ['send(object) as FHIR', 'true'],
    ['query', '1'],
    ["type('form')", '1'],
    ['auth(token, { type: bearer })', '200'],
  ],
  fhir: [
    ['validate of a Patient', 'true'],
    ['validate of a searchset', 'true'],
    ['validate of an expansion', 'true'],
    ['validate of the CapabilityStatement', 'true'],
    ['jsonToXml and xmlToJson', '201'],
    ['evaluate', 'Lovell'],
  ],
  'fhir-react': [
    ['getFHIRResource', 'Lovell'],
    ['getFHIRResources', '1'],
    ['getAllFHIRResources', '1'],
    ['createFHIRResource', '1'],
    ['saveFHIRResource', '2'],
    ['saveFHIRResources', '1'],
    ['patchFHIRResource', /must be a JSON Patch/, "refused: a part of a resource as a patch is not R4's"],
    ['getConcepts', '2'],
    ['forceDeleteFHIRResource', 'Success'],
  ],
  bonfhir: [
    ['capabilities', '4.0.1'],
    ["capabilities('terminology')", 'TerminologyCapabilities'],
    ['create', '1'],
    ['create with criteria', /header If-None-Exist/, 'refused: R4 has the criteria of a create in a header, not in the URL'],
    ["createOr('return')", 'p'],
    ["createOr('replace')", 'true'],
    ['read', 'Lovell'],
    ['vread', 'Lovell'],
    ['save', '2'],
    ['update with criteria', '2'],
    ['update, with preventConcurrentUpdates', '412'],
    ['patch', 'false'],
    ['search', '1'],
    ['search with _include', 'p'],
    ['searchOne', 'p'],
    ['searchAllPages', 'true'],
    ['history', '1'],
    ['batch', '["p","p"]'],
    ['transaction with references', 'true'],
    ["execute of '$expand'", '2'],
    ["execute of '$validate', by POST", 'ok'],
    ['delete', '410'],
  ],
}

interface Program {
  readonly client: string
  readonly needs: string
  readonly version: string
  readonly run: CallingProgram | undefined
  readonly expected: readonly Expected[]
}

const python = pythonClients()
const requirements = inClients('python/requirements.txt')
const inPython = (client: string, file: string, expected: readonly Expected[]): Program => ({
  // There is a client of the same name for JavaScript.
  client: client === 'fhirclient' ? 'fhirclient of Python' : client,
  needs: 'Python',
  run: python?.(file),
  expected,
  version:
    requirements
      .split('\n')
      .find((line) => line.startsWith(`${client}==`))
      ?.split('==')[1] ?? '',
})

const web = webClients()
const { dependencies } = JSON.parse(inClients('web/package.json'))
const PACKAGES: Readonly<Record<string, string>> = {
  'fhir-react': '@beda.software/fhir-react',
  bonfhir: '@bonfhir/core',
}
/** All calls of the web are made by one program, once. */
let webAnswers: ReturnType<CallingProgram> | undefined
const ofWeb = (client: string, expected: readonly Expected[]): Program => ({
  client: PACKAGES[client] ?? client,
  needs: 'npm',
  version: String(dependencies[PACKAGES[client] ?? client]),
  expected,
  run:
    web &&
    (async (base, token) => {
      webAnswers ??= web(base, token)
      const own = `${client}: `
      return (await webAnswers).flatMap(([call, answer]) => (call.startsWith(own) ? [[call.slice(own.length), answer] as const] : []))
    }),
})

const PROGRAMS: readonly Program[] = [
  {
    client: "HAPI's generic client",
    needs: 'Java and Maven',
    run: hapiClient(),
    expected: HAPI,
    version: /<version>(\d+\.\d+\.\d+)/.exec(inClients('hapi/pom.xml'))?.[1] ?? '',
  },
  inPython('fhirpy', 'fhirpy', FHIRPY),
  inPython('fhirclient', 'fhirclient', FHIRCLIENT),
  inPython('fhir.resources', 'fhir_resources', FHIR_RESOURCES),
  inPython('fhirpathpy', 'fhirpathpy', FHIRPATHPY),
  inPython('httpie', 'httpie', HTTPIE),
  inPython('fhir-pyrate', 'fhir_pyrate', FHIR_PYRATE),
  inPython('cumulus-fhir-support', 'cumulus_fhir_support', CUMULUS),
  inPython('pymedplum', 'pymedplum', PYMEDPLUM),
  ...Object.entries(WEB).map(([client, expected]) => ofWeb(client, expected)),
]

describe.each(PROGRAMS)('$client (needs $needs, and its libraries)', ({ client, run, expected, version }) => {
  test.skipIf(run === undefined)('gets what it asks for', async () => {
    const answers = new Map(await run?.(`${running.base}/fhir/R4`, running.token))
    expect([...answers.keys()]).toEqual(expected.map(([call]) => call))
    for (const [call, answer] of expected) {
      if (typeof answer === 'string') expect(answers.get(call), call).toBe(answer)
      else expect(answers.get(call), call).toMatch(answer)
    }
    called.push({ client, version, rows: expected.map(([call, , result = 'works']) => ({ call, result })) })
  })
})

test('docs/clients.md says what was called', async () => {
  const page = called.reduce((text, { client, ...table }) => clientPage(text, client, table), presentPage())
  await expect(page).toMatchFileSnapshot(CLIENT_PAGE)
})
