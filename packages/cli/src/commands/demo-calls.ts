/** A call that a newcomer can paste. */
export interface DemoCall {
  readonly title: string
  readonly command: string
}

/** One call for each operation, over the sample content. */
export function demoCalls(url: string, token: string): readonly DemoCall[] {
  const auth = `-H 'Authorization: Bearer ${token}'`
  const fhir = `${url}/fhir/R4`
  const get = (address: string): string => `curl -s ${auth} '${address}'`
  const post = (address: string, type: string, body: string): string =>
    `curl -s ${auth} -H 'Content-Type: ${type}' '${address}' --data-binary ${body}`
  const parameters = (...parameter: readonly object[]): string => `'${JSON.stringify({ resourceType: 'Parameters', parameter })}'`
  const json = 'application/fhir+json'
  return [
    { title: 'who am I', command: get(`${url}/oauth2/userinfo`) },
    { title: 'my sessions', command: get(`${url}/auth/me`) },
    {
      title: 'translate a code',
      command: post(
        `${fhir}/ConceptMap/$translate`,
        json,
        parameters(
          { name: 'url', valueUri: 'http://example.org/fhir/ConceptMap/visit-priority-to-act-priority' },
          { name: 'system', valueUri: 'http://example.org/fhir/CodeSystem/visit-priority' },
          { name: 'code', valueCode: 'urgent' },
        ),
      ),
    },
    {
      title: 'expand a value set',
      command: get(`${fhir}/ValueSet/$expand?url=http://example.org/fhir/ValueSet/visit-priority&filter=urg`),
    },
    {
      title: 'evaluate a measure',
      command: post(
        `${fhir}/Measure/heart-rate-count/$evaluate-measure`,
        json,
        parameters({ name: 'periodStart', valueDate: '2026-01-01' }, { name: 'periodEnd', valueDate: '2026-12-31' }),
      ),
    },
    {
      title: 'validate a resource',
      command: post(`${fhir}/Patient/$validate`, json, `'{"resourceType":"Patient","name":[{"foo":"bar"}]}'`),
    },
    { title: 'run a bot on JSON', command: post(`${fhir}/Bot/bmi/$execute`, 'application/json', `'{"weightKg":61.5,"heightM":1.68}'`) },
    {
      title: 'run a bot on a form',
      command: post(
        `${fhir}/Bot/$execute?identifier=http://example.org/fhir/bots|intake-form`,
        'application/x-www-form-urlencoded',
        `'family=Lovell&given=Ada&birthDate=1980-12-10'`,
      ),
    },
    {
      title: 'run a bot on an HL7 v2 message',
      command: post(
        `${fhir}/Bot/hl7-ack/$execute`,
        'x-application/hl7-v2+er7',
        String.raw`$'MSH|^~\\&|LAB|CITY|APP|CLINIC|20260203093000||ORU^R01|42|P|2.5.1\rPID|1||7||LOVELL^ADA'`,
      ),
    },
    {
      title: 'end another session by its login id (see my sessions)',
      command: post(`${url}/auth/revoke`, 'application/json', `'{"loginId":"PUT-A-LOGIN-ID-HERE"}'`),
    },
    { title: 'end this session', command: post(`${url}/oauth2/logout`, 'application/json', `'{}'`) },
  ]
}
