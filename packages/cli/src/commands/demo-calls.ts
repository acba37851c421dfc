/** A call that a newcomer can paste. */
export interface DemoCall {
  readonly title: string
  readonly command: string
}

/** What the calls of a demo server name. */
export interface DemoServer {
  readonly url: string
  readonly token: string
  /** Of a second session of the same user. */
  readonly otherLoginId: string
}

/** One call for each operation, over the sample content. */
export function demoCalls(server: DemoServer): readonly DemoCall[] {
  return [...whoCalls(server), ...operationCalls(server), ...botCalls(server), ...endingCalls(server)]
}

function whoCalls(server: DemoServer): readonly DemoCall[] {
  return [
    { title: 'who am I', command: get(server, '/oauth2/userinfo') },
    { title: 'my sessions', command: get(server, '/auth/me') },
  ]
}

function operationCalls(server: DemoServer): readonly DemoCall[] {
  const translation = parameters(
    { name: 'url', valueUri: 'http://example.org/fhir/ConceptMap/visit-priority-to-act-priority' },
    { name: 'system', valueUri: 'http://example.org/fhir/CodeSystem/visit-priority' },
    { name: 'code', valueCode: 'urgent' },
  )
  const period = parameters({ name: 'periodStart', valueDate: '2026-01-01' }, { name: 'periodEnd', valueDate: '2026-12-31' })
  const invalid = `'{"resourceType":"Patient","name":[{"family":"Lovell","foo":"bar"}]}'`
  return [
    { title: 'translate a code', command: post(server, '/fhir/R4/ConceptMap/$translate', { type: FHIR_JSON, body: translation }) },
    {
      title: 'expand a value set',
      command: get(server, '/fhir/R4/ValueSet/$expand?url=http://example.org/fhir/ValueSet/visit-priority&filter=urg'),
    },
    {
      title: 'evaluate a measure',
      command: post(server, '/fhir/R4/Measure/heart-rate-count/$evaluate-measure', { type: FHIR_JSON, body: period }),
    },
    { title: 'validate a resource', command: post(server, '/fhir/R4/Patient/$validate', { type: FHIR_JSON, body: invalid }) },
  ]
}

function botCalls(server: DemoServer): readonly DemoCall[] {
  const form = `'family=Lovell&given=Ada&birthDate=1980-12-10'`
  const message = String.raw`$'MSH|^~\\&|LAB|CITY|APP|CLINIC|20260203093000||ORU^R01|42|P|2.5.1\rPID|1||7||LOVELL^ADA'`
  return [
    {
      title: 'run a bot on JSON',
      command: post(server, '/fhir/R4/Bot/bmi/$execute', { type: 'application/json', body: `'{"weightKg":61.5,"heightM":1.68}'` }),
    },
    {
      title: 'run a bot on a form, found by its identifier',
      command: post(server, '/fhir/R4/Bot/$execute?identifier=http://example.org/fhir/bots|intake-form', {
        type: 'application/x-www-form-urlencoded',
        body: form,
      }),
    },
    {
      title: 'run a bot on an HL7 v2 message',
      command: post(server, '/fhir/R4/Bot/hl7-ack/$execute', { type: 'x-application/hl7-v2+er7', body: message }),
    },
  ]
}

function endingCalls(server: DemoServer): readonly DemoCall[] {
  const other = `'${JSON.stringify({ loginId: server.otherLoginId })}'`
  return [
    { title: 'end my other session by its login id', command: post(server, '/auth/revoke', { type: 'application/json', body: other }) },
    {
      title: 'end this session; the token is of no use afterwards',
      command: post(server, '/oauth2/logout', { type: 'application/json', body: `'{}'` }),
    },
  ]
}

const FHIR_JSON = 'application/fhir+json'

function get({ url, token }: DemoServer, path: string): string {
  return `curl -s -H 'Authorization: Bearer ${token}' '${url}${path}'`
}

interface Body {
  readonly type: string
  /** Quoted for a POSIX shell. */
  readonly body: string
}

function post(server: DemoServer, path: string, { type, body }: Body): string {
  return `${get(server, path)} -H 'Content-Type: ${type}' --data-binary ${body}`
}

function parameters(...parameter: readonly object[]): string {
  return `'${JSON.stringify({ resourceType: 'Parameters', parameter })}'`
}
