// Conditional writes, one after the other: each sees what those before it have stored.

/** A request that writes, and what it must be answered with. */
export interface Write {
  readonly method: 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'GET'
  readonly path: string
  readonly ifNoneExist?: string
  readonly type?: string
  readonly body?: unknown
}

const patient = (more: object): object => ({ resourceType: 'Patient', ...more })
const PATCH = { type: 'application/json-patch+json', body: [{ op: 'replace', path: '/active', value: false }] }
const seen = (path: string): Write => ({ method: 'GET', path })

export const WRITES: readonly Write[] = [
  ...[
    'identifier=http://ids/mrn%7C2345',
    'identifier=2345',
    'identifier=http://ids/new%7C1',
    'identifier=http://ids/new%7C1',
    'Patient?identifier=http://ids/new%7C2',
    'family=nobody&birthdate=1999-01-01',
    'family=muller',
    'gender=female&family:exact=M%C3%BCller',
    'general-practitioner=Practitioner/joe',
    '_id=ann',
    'organization.name:contains=north&gender=unknown',
    '_has:Observation:patient:code=85354-9&gender=male',
    'nothing=1',
    'identifier=http://ids/new%7C3&_sort=name',
    '',
  ].map((ifNoneExist, at): Write => ({
    method: 'POST',
    path: 'Patient',
    ifNoneExist,
    body: patient({ identifier: [{ system: 'http://ids/new', value: ['', '', '1', '1', '2'][at] || `created-${at}` }] }),
  })),
  seen('Patient?identifier=http://ids/new%7C&_summary=count'),
  ...[
    'identifier=http://ids/put%7C1',
    'identifier=http://ids/put%7C1',
    'gender=female&family=muller',
    'gender=male',
    'gender=male,female',
    'identifier=http://ids/put%7C9',
    'nothing=1',
    '',
  ].map((criteria): Write => ({
    method: 'PUT',
    path: `Patient?${criteria}`,
    body: patient({ gender: 'other', identifier: [{ system: 'http://ids/put', value: '1' }] }),
  })),
  {
    method: 'PUT',
    path: 'Patient?identifier=http://ids/put%7C8',
    body: patient({ id: 'chosen', identifier: [{ system: 'http://ids/put', value: '8' }] }),
  },
  {
    method: 'PUT',
    path: 'Patient?identifier=http://ids/put%7C8',
    body: patient({ id: 'another', identifier: [{ system: 'http://ids/put', value: '8' }] }),
  },
  { method: 'PUT', path: 'Patient?_id=assigned', body: patient({ id: 'assigned' }) },
  seen('Patient?identifier=http://ids/put%7C8'),
  seen('Patient?_id=chosen,assigned,another&_sort=_id'),
  ...['_id=eli', 'identifier=http://ids/none%7C1', 'gender=other', 'nothing=1', 'family:exact=Muller', ''].map((criteria): Write => ({
    method: 'PATCH',
    path: `Patient?${criteria}`,
    ...PATCH,
  })),
  seen('Patient?active=false&_id=ann,bob,cyd,dee,eli&_sort=_id'),
  ...[
    'code=http://here.org/colours%7Cblue',
    'code=http://here.org/colours%7Cnone',
    'code:text=red',
    'nothing=1',
    'patient.name=bob',
    '_id=c1,c5',
    '',
  ].map((criteria): Write => ({ method: 'DELETE', path: `Condition?${criteria}` })),
  seen('Condition?_sort=_id'),
]
