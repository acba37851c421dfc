import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf, issuesOf } from './findings-of.js'

const KINDS = /^bundle-/
const HOST = 'http://a.org/fhir/'

const at = (resource: JsonObject, members: JsonObject = {}): JsonObject => ({
  fullUrl: `${HOST}${String(resource['resourceType'])}/${String(resource['id'])}`,
  resource,
  ...members,
})
const patient = (id: string, members: JsonObject = {}): JsonObject => ({ resourceType: 'Patient', id, ...members })
const bundle = (type: string, entry: readonly JsonObject[], members: JsonObject = {}): JsonObject => ({
  resourceType: 'Bundle',
  type,
  entry,
  ...members,
})
const narrative = (content: string): JsonObject => ({
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>` },
})
const composition = (members: JsonObject): JsonObject => ({
  resourceType: 'Composition',
  id: 'c',
  status: 'final',
  type: { text: 'x' },
  date: '2020',
  author: [{ display: 'x' }],
  title: 'x',
  ...members,
})
const message = (members: JsonObject): JsonObject => ({
  resourceType: 'MessageHeader',
  id: 'm',
  eventUri: 'http://a.org/e',
  source: { endpoint: 'http://a.org' },
  ...members,
})

describe('the fullUrl of an entry', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    ['is needed', bundle('collection', [{ resource: patient('a') }]), ['error bundle-full-url Bundle.entry[0]']],
    [
      'is needed without a resource, too: BUNDLE_BUNDLE_ENTRY_FULLURL_REQUIRED',
      bundle('history', [
        { request: { method: 'DELETE', url: 'Patient/a' }, response: { status: '204' } },
        { fullUrl: `${HOST}Patient/b`, request: { method: 'DELETE', url: 'Patient/b' }, response: { status: '204' } },
      ]),
      ['error bundle-full-url Bundle.entry[0]'],
    ],
    ['is not needed in an answer to a batch', bundle('batch-response', [{ response: { status: '204' } }]), []],
    [
      'is needed in histories',
      bundle('history', [{ resource: patient('a'), request: { method: 'PUT', url: 'Patient/a' }, response: { status: '200' } }]),
      ['error bundle-full-url Bundle.entry[0]'],
    ],
    [
      'has no white space',
      bundle('collection', [{ fullUrl: 'http://a.org/x y', resource: patient('a') }]),
      ['error bundle-full-url Bundle.entry[0]'],
    ],
    [
      'is needed by relative references',
      bundle('collection', [{ resource: patient('a', { managingOrganization: { reference: 'Organization/o' } }) }]),
      ['error bundle-full-url Bundle.entry[0]', 'error bundle-reference-missing Bundle.entry[0].resource.managingOrganization'],
    ],
    [
      'makes relative references be a type and an id',
      bundle('collection', [at(patient('a', { managingOrganization: { reference: 'o' } }))]),
      ['error bundle-reference-missing Bundle.entry[0].resource.managingOrganization'],
    ],
    [
      'is not a canonical that ends with something else than the id',
      bundle('collection', [
        { fullUrl: 'http://a.org/vs/w', resource: { resourceType: 'ValueSet', id: 'v', url: 'http://a.org/vs/w', status: 'draft' } },
      ]),
      ['error bundle-full-url Bundle.entry[0]'],
    ],
    [
      'may be a canonical of a server',
      bundle('collection', [
        { fullUrl: `${HOST}ValueSet/w`, resource: { resourceType: 'ValueSet', id: 'w', url: `${HOST}ValueSet/w`, status: 'draft' } },
      ]),
      [],
    ],
    ['is not needed in a batch', bundle('batch', [{ resource: patient('a'), request: { method: 'PUT', url: 'Patient/a' } }]), []],
    ['is absolute', bundle('collection', [{ fullUrl: 'Patient/a', resource: patient('a') }]), ['error bundle-full-url Bundle.entry[0]']],
    [
      'makes relative references be a type and an id where it is a URN, too',
      bundle('collection', [
        { fullUrl: 'urn:uuid:1f0e6ab7-0d3c-4b8b-9d3e-0a6f0d9b2c11', resource: patient('a', { managingOrganization: { reference: 'o' } }) },
      ]),
      ['error bundle-reference-missing Bundle.entry[0].resource.managingOrganization'],
    ],
    [
      'of a server has the id of the resource',
      bundle('collection', [{ fullUrl: `${HOST}Patient/b`, resource: patient('a') }]),
      ['error bundle-full-url Bundle.entry[0]'],
    ],
    [
      'of a server needs a resource with id',
      bundle('collection', [{ fullUrl: `${HOST}Patient/b`, resource: { resourceType: 'Patient', active: true } }]),
      ['error bundle-full-url Bundle.entry[0]'],
    ],
    [
      'may be a UUID',
      bundle('collection', [
        { fullUrl: 'urn:uuid:1f0e6ab7-0d3c-4b8b-9d3e-0a6f0d9b2c11', resource: { resourceType: 'Patient', active: true } },
      ]),
      [],
    ],
    ['may be of something else than a type', bundle('collection', [{ fullUrl: `${HOST}nothing/here`, resource: patient('a') }]), []],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [], KINDS)).toEqual(expected)
  })
})

describe('the answer to a search', () => {
  const self = { link: [{ relation: 'self', url: `${HOST}Patient?active=true` }] }
  const observation = { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' } }
  const match = { search: { mode: 'match' } }
  test.each<[string, JsonObject, readonly string[]]>([
    ['says what was searched', bundle('searchset', [at(patient('a'), match)]), ['warning bundle-search Bundle']],
    ['has matches of the type', bundle('searchset', [at(observation, match)], self), ['error bundle-search Bundle.entry[0].resource']],
    ...['?_type=Patient%2COrganization', '?_count=1&_type=Patient,Organization', 'Patient/_search'].map(
      (search): [string, JsonObject, readonly string[]] => [
        `has matches of the types in ${search}`,
        bundle('searchset', [at(patient('a'), match), at(observation, match)], { link: [{ relation: 'self', url: `${HOST}${search}` }] }),
        ['error bundle-search Bundle.entry[1].resource'],
      ],
    ),
    ['may include other types', bundle('searchset', [at(observation, { search: { mode: 'include' } })], self), []],
    [
      'has matches with ids',
      bundle('searchset', [{ fullUrl: 'urn:x:1', resource: { resourceType: 'Patient', active: true }, ...match }], self),
      ['error bundle-search Bundle.entry[0].resource'],
    ],
    [
      'has outcomes only as such',
      bundle('searchset', [at(patient('a'), { search: { mode: 'outcome' } })], self),
      ['error bundle-search Bundle.entry[0].resource'],
    ],
    [
      'tells why other types are there',
      bundle('searchset', [at(observation)], self),
      ['warning bundle-search Bundle.entry[0]', 'warning bundle-search Bundle'],
    ],
    ['finds resources', bundle('searchset', [{ fullUrl: 'urn:x:1', ...match }], self), ['error bundle-search Bundle.entry[0]']],
    [
      'should have ids without modes too',
      bundle('searchset', [{ fullUrl: 'urn:x:1', resource: { resourceType: 'Patient', active: true } }], self),
      ['warning bundle-search Bundle.entry[0].resource'],
    ],
    [
      'should tell the types that were searched',
      bundle('searchset', [at(patient('a'), match)], { link: [{ relation: 'self', url: 'http://a.org/x?y=1' }] }),
      ['information bundle-search Bundle'],
    ],
    ['may be empty', bundle('searchset', []), []],
    ['needs no modes when all is of the type', bundle('searchset', [at(patient('a'))], self), []],
    [
      'knows the types of a search over several',
      bundle('searchset', [at(observation, match)], { link: [{ relation: 'self', url: `${HOST}?_type=Patient,Observation` }] }),
      [],
    ],
    [
      'has each link once',
      bundle('searchset', [], {
        link: [...self.link, { relation: 'next', url: 'http://a.org/2' }, { relation: 'next', url: 'http://a.org/3' }],
      }),
      ['error bundle-link Bundle.link[2]'],
    ],
    [
      'is the only one with pages',
      bundle('collection', [], { link: [{ relation: 'next', url: 'http://a.org/2' }] }),
      ['error bundle-link Bundle.link[0].relation'],
    ],
    [
      'is not the only one with a link to itself',
      bundle('collection', [], {
        link: [
          { relation: 'self', url: 'http://a.org/2' },
          { relation: 'self', url: 'http://a.org/3' },
        ],
      }),
      ['error bundle-link Bundle.link[1].relation'],
    ],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [], KINDS)).toEqual(expected)
  })
})

describe('the entries of a document or message', () => {
  const section = (...references: readonly string[]): JsonObject => ({
    section: [{ title: 'x', entry: references.map((reference) => ({ reference })) }],
  })
  const named = { identifier: { system: 'urn:ietf:rfc:3986', value: 'urn:x:1' }, timestamp: '2020-01-01T00:00:00Z' }
  const document = (...entry: readonly JsonObject[]): JsonObject => bundle('document', entry, named)
  const section0 = 'Bundle.entry[0].resource.section[0].entry[0]'
  test.each<[string, JsonObject, readonly string[]]>([
    ['are found by relative reference', document(at(composition(section('Patient/a'))), at(patient('a'))), []],
    ['are found by absolute reference', document(at(composition(section(`${HOST}Patient/a`))), at(patient('a'))), []],
    [
      'are found by version',
      document(at(composition(section('Patient/a/_history/2'))), at(patient('a', { meta: { versionId: '2' } }))),
      [],
    ],
    [
      'must be there when a section names them',
      document(at(composition(section('Patient/a')))),
      [`error bundle-reference-missing ${section0}`],
    ],
    [
      'must be the version that is named',
      document(
        at(composition({ ...section('Patient/a/_history/3'), subject: { reference: 'Patient/a' } })),
        at(patient('a', { meta: { versionId: '2' } })),
      ),
      [`error bundle-reference-missing ${section0}`, `warning bundle-reference-open ${section0}`],
    ],
    [
      'must be told apart',
      document(
        at(composition(section('Patient/a'))),
        at(patient('a', { meta: { versionId: '1' } })),
        at(patient('a', { meta: { versionId: '2' } })),
      ),
      [
        `error bundle-reference-ambiguous ${section0}`,
        `error bundle-reference-missing ${section0}`,
        'error bundle-entry-unreachable Bundle.entry[1]',
        'error bundle-entry-unreachable Bundle.entry[2]',
      ],
    ],
    [
      'must be told apart in all resources of a document',
      document(
        at(composition(section('Patient/b'))),
        at(patient('b', { link: [{ other: { reference: 'Patient/a' }, type: 'seealso' }] })),
        at(patient('a', { meta: { versionId: '1' }, link: [{ other: { reference: 'Patient/b' }, type: 'seealso' }] })),
        at(patient('a', { meta: { versionId: '2' }, link: [{ other: { reference: 'Patient/b' }, type: 'seealso' }] })),
      ),
      [
        'error bundle-reference-ambiguous Bundle.entry[1].resource.link[0].other',
        'error bundle-reference-missing Bundle',
        'warning bundle-entry-unreachable Bundle.entry[2]',
        'warning bundle-entry-unreachable Bundle.entry[3]',
      ],
    ],
    [
      'are not found below another base',
      document(at(composition(section('Patient/a'))), { fullUrl: 'urn:uuid:1f0e6ab7-0d3c-4b8b-9d3e-0a6f0d9b2c11', resource: patient('a') }),
      [
        `error bundle-reference-missing ${section0}`,
        `warning bundle-reference-open ${section0}`,
        'error bundle-entry-unreachable Bundle.entry[1]',
      ],
    ],
    ['have to do with the document', document(at(composition({})), at(patient('a'))), ['error bundle-entry-unreachable Bundle.entry[1]']],
    ...['href="Binary/b"', "href='Binary/b'", 'href = "Binary/b"', 'href="Binary&#47;b"'].map(
      (link): [string, JsonObject, readonly string[]] => [
        `may be linked in a narrative: ${link}`,
        document(at(composition(narrative(`<a ${link}>b</a>`))), at({ resourceType: 'Binary', id: 'b', contentType: 'text/plain' })),
        [],
      ],
    ),
    [
      'may be linked after what is not XHTML',
      document(
        at(composition(narrative('5 < 6 <a href="Binary/b">b</a>'))),
        at({ resourceType: 'Binary', id: 'b', contentType: 'text/plain' }),
      ),
      [],
    ],
    [
      'are not linked by the text of a narrative',
      document(at(composition(narrative('<p>href="Binary/b"</p>'))), at({ resourceType: 'Binary', id: 'b', contentType: 'text/plain' })),
      ['error bundle-entry-unreachable Bundle.entry[1]'],
    ],
    [
      'should not only lead to the document',
      document(at(composition({})), at({ resourceType: 'Basic', id: 'b', code: { text: 'x' }, subject: { reference: 'Composition/c' } })),
      ['warning bundle-entry-unreachable Bundle.entry[1]'],
    ],
    [
      'may be Provenance of it',
      document(
        at(composition({})),
        at({
          resourceType: 'Provenance',
          id: 'p',
          target: [{ reference: 'Composition/c' }],
          recorded: '2020-01-01T00:00:00Z',
          agent: [{ who: { display: 'x' } }],
        }),
      ),
      [],
    ],
    [
      'may be reached by way of others',
      document(
        at(composition(section('Patient/a'))),
        at(patient('a', { managingOrganization: { reference: 'Organization/o' } })),
        at({ resourceType: 'Organization', id: 'o', name: 'x' }),
      ),
      [],
    ],
    ['are more than none', document(), ['error bundle-header Bundle']],
    ['begin with a resource', document({ fullUrl: 'urn:x:1' }), ['error bundle-header Bundle.entry[0]']],
    ['begin with the Composition', document(at(patient('a'))), ['error bundle-header Bundle.entry[0].resource']],
    ['begin with the MessageHeader', bundle('message', [at(patient('a'))]), ['error bundle-header Bundle.entry[0].resource']],
    [
      'should have to do with the message',
      bundle('message', [at(message({})), at(patient('a'))]),
      ['warning bundle-entry-unreachable Bundle.entry[1]'],
    ],
    [
      'must be there as the focus of a message',
      bundle('message', [at(message({ focus: [{ reference: 'Patient/a' }] }))]),
      ['error bundle-reference-missing Bundle.entry[0].resource.focus[0]'],
    ],
    [
      'are the only place of a URN',
      bundle('collection', [at(patient('a', { managingOrganization: { reference: 'urn:uuid:1f0e6ab7-0d3c-4b8b-9d3e-0a6f0d9b2c11' } }))]),
      ['warning bundle-reference-open Bundle.entry[0].resource.managingOrganization'],
    ],
    [
      'need not be all that a resource refers to',
      bundle('collection', [at(patient('a', { managingOrganization: { reference: 'Organization/o' } }))]),
      [],
    ],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [], KINDS)).toEqual(expected)
  })

  test.each<[string, readonly string[]]>([
    ['#one', []],
    ['#none', ['information bundle-reference-missing Bundle.entry[1].resource.extension[0].value.ofType(url)']],
    ['#two', ['error bundle-reference-ambiguous Bundle.entry[1].resource.extension[0].value.ofType(url)']],
    ['', []],
  ])('lead with a fragment to one place: %s', async (fragment, expected) => {
    const section = { id: 'two', title: 'x', entry: [{ reference: 'Patient/a' }] }
    const narrative = `<div xmlns="http://www.w3.org/1999/xhtml"><p id="one">x</p><p id="two">x</p></div>`
    const header = at(composition({ section: [{ ...section, text: { status: 'generated', div: narrative } }] }))
    const link = { url: 'http://example.org/link', valueUrl: `${HOST}Composition/c${fragment}` }
    expect(await findingsOf(document(header, at(patient('a', { extension: [link] }))), [], KINDS)).toEqual(expected)
  })

  test('lead with a fragment to a place, by a URN', async () => {
    const urn = 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e1'
    const header = at(composition({ section: [{ title: 'x', entry: [{ reference: 'Patient/a' }] }], subject: { reference: urn } }))
    const entry = { fullUrl: urn, resource: { resourceType: 'Patient', gender: 'male' } }
    const link = { url: 'http://example.org/link', valueUri: `${urn}#none` }
    expect(await findingsOf(document(header, at(patient('a', { extension: [link] })), entry), [], KINDS)).toEqual([
      'error bundle-reference-missing Bundle.entry[1].resource.extension[0].value.ofType(uri)',
    ])
  })

  test.each<[string, readonly string[]]>([
    ['Binary/s', []],
    ['https://hl7.org/fhir/fhir.css', ['error bundle-entry-unreachable Bundle.entry[1]']],
    ['Binary/t', ['error bundle-style-sheet Bundle.link[0].url', 'error bundle-entry-unreachable Bundle.entry[1]']],
    [
      'http://b.org/s.css',
      [
        'warning bundle-style-sheet Bundle.link[0].url',
        'warning bundle-style-sheet Bundle.link[0].url',
        'error bundle-entry-unreachable Bundle.entry[1]',
      ],
    ],
  ])('include the style sheet %s', async (url, expected) => {
    const sheet = at({ resourceType: 'Binary', id: 's', contentType: 'text/css', data: 'AAAA' })
    const resource = { ...document(at(composition({})), sheet), link: [{ relation: 'stylesheet', url }] }
    expect(await findingsOf(resource, [], KINDS)).toEqual(expected)
  })
})

// Reference_REF_Format1, Reference_REF_Format2
test.each<readonly [type: string, reference: string, isWrong: boolean]>([
  ['collection', 'Organization/o', false],
  ['collection', 'Organization/o#name', false],
  ['collection', 'Organization?name=x', true],
  ['collection', 'Organization?identifier=http://a.org|1', true],
  ['transaction', 'Nothing?name=x', true],
  ['collection', '/Organization/o', true],
  ['transaction', 'Organization?name=x', false],
  ['transaction', '?name=x', true],
  ['batch', 'Organization?name=x', false],
  ['searchset', 'Organization?name=x', true],
  ['history', 'Organization/o', false],
  ['history', 'Organization', true],
  ['transaction-response', 'Organization?name=x', true],
  ['batch-response', '#o', false],
])('a relative reference in a Bundle of type %s: %s', async (type, reference, isWrong) => {
  const entry = at(patient('a', { managingOrganization: { reference } }))
  const said = isWrong ? ['error bundle-reference-missing Bundle.entry[0].resource.managingOrganization'] : []
  expect(await findingsOf(bundle(type, [entry]), [], /^bundle-reference/)).toEqual(said)
})

test('what a document or message refers to beside is noted, each once: Bundle_BUNDLE_Entry_NotFound', async () => {
  const refers = (id: string): JsonObject => at(patient(id, { managingOrganization: { reference: 'Organization/o' } }))
  const focus = { focus: [{ reference: 'Patient/a' }, { reference: 'Patient/b' }] }
  const sent = bundle('message', [at(message(focus)), refers('a'), refers('b')])
  expect(await issuesOf(sent, [], /^bundle-reference/)).toEqual(['information|not-found bundle-reference-missing Bundle'])
  const lost = bundle('message', [at(message({ focus: [{ reference: 'Patient/c' }] }))])
  expect(await issuesOf(lost, [], /^bundle-reference/)).toEqual([
    'error|not-found bundle-reference-missing Bundle.entry[0].resource.focus[0]',
  ])
  expect(await issuesOf(bundle('collection', [refers('a')]), [], /^bundle-reference/)).toEqual([])
})

test.each([
  ['urn:uuid:1f0e6ab7-0d3c-4b8b-9d3e-0a6f0d9b2c11', true],
  ['http://b.org/fhir/Organization/o', false],
  ['Organization/p', true],
  ['http://b.org/fhir/Organization/other', false],
  ['Organization/o', false],
])('what may be meant for an entry of answers and histories is noted: Bundle_BUNDLE_Not_Local, %s', async (reference, isNoted) => {
  const elsewhere = { fullUrl: 'http://b.org/fhir/Organization/p', resource: { resourceType: 'Organization', id: 'p', name: 'x' } }
  const entry = [
    at(patient('a', { managingOrganization: { reference } })),
    at({ resourceType: 'Organization', id: 'o', name: 'x' }),
    elsewhere,
  ]
  const said = isNoted ? ['warning bundle-reference-open Bundle.entry[0].resource.managingOrganization'] : []
  for (const type of ['history', 'batch-response', 'transaction-response', 'collection'])
    expect(await findingsOf(bundle(type, entry), [], /^bundle-reference/)).toEqual(said)
})

test.each<readonly [what: string, reference: string, patient: JsonObject, said: readonly string[]]>([
  ['an entry by its type and id', 'Patient/a', { fullUrl: `${HOST}Patient/a` }, []],
  [
    'a version of an entry that says none',
    'Patient/a/_history/1',
    { fullUrl: `${HOST}Patient/a` },
    ['error bundle-reference-missing Bundle'],
  ],
  ['one with another fullUrl', 'Patient/a', { fullUrl: `${HOST}Group/a` }, ['error bundle-reference-missing Bundle']],
  ['a part of one with another fullUrl', 'Patient/a#x', { fullUrl: `${HOST}Group/a` }, ['error bundle-reference-missing Bundle']],
  ['one elsewhere', 'http://b.org/Patient/a', { fullUrl: `${HOST}Group/a` }, ['information bundle-reference-missing Bundle']],
])('a reference in an entry of a document to %s: BUNDLE_BUNDLE_ENTRY_NOTFOUND_APPARENT', async (_, reference, entry, said) => {
  const observation = { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject: { reference } }
  const section = [{ title: 's', entry: [{ reference: 'Observation/o' }, { reference: entry['fullUrl'] }] }]
  const entries = [at(composition({ section })), at(observation), { ...entry, resource: patient('a') }]
  expect(await findingsOf(bundle('document', entries), [], /^bundle-reference-missing/)).toEqual(said)
})
