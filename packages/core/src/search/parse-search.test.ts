import { describe, expect, it } from 'vitest'
import { publishedSearchParameters, publishedTypes } from '../../test/r4-definitions.js'
import type { Condition, Comparison } from '../storage/index.js'
import { memoryStorage } from '../memory/index.js'
import { callersSearch, createIndexer, parseSearch, searchParameters, searchTypesOf, type CodeExpander, type SearchPair } from './index.js'

const parameters = searchParameters(publishedSearchParameters(), { type: () => undefined, names: () => [] })
const withWords = searchParameters(publishedSearchParameters(), { type: () => undefined, names: () => [] }, { words: true })
const now = (): Date => new Date('2024-01-01T00:00:00Z')

/** Parses a query string of decoded parameters. */
function parse(query: string, codesOf?: CodeExpander): ReturnType<typeof parseSearch> {
  const [type = '', rest = ''] = query.split(/\?(.*)/s)
  const pairs =
    rest === '' ? [] : rest.split('&').map((pair): SearchPair => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)])
  return parseSearch(type, pairs, { parameters, now, base: 'http://own.example/fhir', codesOf })
}

async function whereOf(query: string): Promise<string> {
  return written((await parse(query)).query.where)
}

/** A condition in short: `code[value eq "x"]`, `or(...)`, `not(...)`. */
function written(condition: Condition): string {
  switch (condition.kind) {
    case 'entry':
      return `${condition.param}[${condition.all.map(comparison).join(' & ')}]`
    case 'and':
    case 'or':
      return `${condition.kind}(${condition.conditions.map(written).join(', ')})`
    case 'not':
      return `not(${written(condition.condition)})`
    case 'id':
      return `id(${condition.ids.join(', ')})`
    case 'lastUpdated':
      return `updated(${instant(condition.from)}..${instant(condition.to)})`
    case 'refersTo':
    case 'referredBy':
      return `${condition.kind}(${condition.param}, ${condition.query.type}, ${written(condition.query.where)})`
  }
}

function comparison(test: Comparison): string {
  if (test.op === 'absent') return `${test.field} absent`
  if (test.op === 'in') return `${test.field} in ${test.operands.join(' ')}`
  return `${test.field} ${test.op} ${typeof test.operand === 'number' && Math.abs(test.operand) > 1e9 ? instant(test.operand) : test.operand}`
}

function instant(at: number | undefined): string {
  return at === undefined ? '' : new Date(at).toISOString()
}

const TERMS: readonly (readonly [query: string, condition: string])[] = [
  ['Patient', 'and()'],
  ['Patient?_id=a,b', 'id(a, b)'],
  ['Patient?_id:not=a', 'not(id(a))'],
  ['Patient?_list=a,b', 'referredBy(item, List, id(a, b))'],
  // tokens
  ['Patient?gender=female', 'gender[value eq female]'],
  [
    'Observation?combo-code-value-concept=a$b',
    'or(code-value-concept[value eq a & text eq b], component-code-value-concept[value eq a & text eq b])',
  ],
  ['Observation?combo-code-value-quantity:missing=true', 'not(or(code-value-quantity[], component-code-value-quantity[]))'],
  ['Condition?code=http://s|1', 'code[value eq 1 & system eq http://s]'],
  ['Condition?code=|1', 'code[value eq 1 & system absent]'],
  ['Condition?code=http://s|', 'code[system eq http://s]'],
  ['Condition?code=a,http://s|b', 'or(code[value eq a], code[value eq b & system eq http://s])'],
  ['Condition?code=a\\,b\\|c\\$d\\\\e', 'code[value eq a,b|c$d\\e]'],
  ['Condition?code:not=a,b', 'not(or(code[value eq a], code[value eq b]))'],
  ['Condition?code:text=Héad', 'code[text prefix head]'],
  ['Patient?identifier:of-type=http://t|MR|a\\|B', 'identifier:of-type[value eq MR & system eq http://t & text eq a|B]'],
  ['Condition?code:missing=true', 'not(code[])'],
  ['Condition?code:missing=false', 'code[]'],
  ['Condition?code=a&code=b', 'and(code[value eq a], code[value eq b])'],
  // strings
  ['Patient?name=Élan', 'name[text prefix elan]'],
  ['Patient?name:contains=lan', 'name[text contains lan]'],
  ['Patient?name:exact=Élan', 'name[value eq Élan]'],
  // references
  ['Observation?subject=Patient/1', 'subject[value eq 1 & system eq Patient]'],
  ['Observation?subject=http://own.example/fhir/Patient/1', 'subject[value eq 1 & system eq Patient]'],
  ['Observation?subject=http://other/Patient/1', 'subject[value eq http://other/Patient/1 & system absent]'],
  ['Observation?subject:Patient=1', 'subject[value eq 1 & system eq Patient]'],
  ['Observation?subject:Patient=Patient/1', 'subject[value eq 1 & system eq Patient]'],
  ['Observation?patient=1', 'patient[value eq 1 & system in Patient]'],
  ['Basic?subject=1', 'subject[value eq 1 & system prefix ]'],
  ['Observation?subject:identifier=http://s|1', 'subject:identifier[value eq 1 & system eq http://s]'],
  ['CarePlan?instantiates-canonical=http://x/y|2', 'instantiates-canonical[value eq http://x/y|2 & system absent]'],
  // uris
  ['ValueSet?url=http://x/vs|1.2', 'and(url[value eq http://x/vs], version[value eq 1.2])'],
  ['ValueSet?url=http://x/vs|1,http://x/b', 'or(and(url[value eq http://x/vs], version[value eq 1]), url[value eq http://x/b])'],
  [String.raw`ValueSet?url=http://x/vs\|1`, 'and(url[value eq http://x/vs], version[value eq 1])'],
  [String.raw`Subscription?url=http://x\|1`, 'url[value eq http://x|1]'],
  ['ValueSet?url=http://x/vs|', 'url[value eq http://x/vs]'],
  ['Subscription?url=http://x|1', 'url[value eq http://x|1]'],
  ['ValueSet?url=http://x/vs', 'url[value eq http://x/vs]'],
  ['ValueSet?url:below=http://x/a', 'or(url[value eq http://x/a], url[value prefix http://x/a/])'],
  ['ValueSet?url:above=http://x/a/b', 'url[value in http://x/a/b http://x/a/ http://x/a http://x/ http://x]'],
  // numbers and quantities
  ['RiskAssessment?probability=0.5', 'probability[low ge 0.45 & low lt 0.55 & high lt 0.55]'],
  ['RiskAssessment?probability=100', 'probability[low ge 99.5 & low lt 100.5 & high lt 100.5]'],
  ['RiskAssessment?probability=ne5.4', 'or(probability[low lt 5.35], probability[high ge 5.45])'],
  ['RiskAssessment?probability=gt0.8', 'probability[high gt 0.8]'],
  ['RiskAssessment?probability=le0.8', 'or(probability[high le 0.8], probability[low lt 0.8])'],
  ['RiskAssessment?probability=ap100', 'probability[low le 110 & high ge 90]'],
  ['Observation?value-quantity=sa5.4', 'value-quantity[low gt 5.4]'],
  ['Observation?value-quantity=gt80|http://u|kg', 'value-quantity[high gt 80 & value eq kg & system eq http://u]'],
  ['Observation?value-quantity=lt80||kg', 'value-quantity[low lt 80 & value eq kg]'],
  // dates
  [
    'Patient?birthdate=1980',
    'birthdate[low ge 1980-01-01T00:00:00.000Z & low le 1980-12-31T23:59:59.999Z & high le 1980-12-31T23:59:59.999Z]',
  ],
  ['Patient?birthdate=ge1980-02', 'or(birthdate[low ge 1980-02-01T00:00:00.000Z], birthdate[high gt 1980-02-29T23:59:59.999Z])'],
  ['Patient?birthdate=lt1990-01-01', 'birthdate[low lt 1990-01-01T00:00:00.000Z]'],
  ['Encounter?date=eb2020-01-01T10:00:00+02:00', 'date[high lt 2020-01-01T08:00:00.000Z]'],
  ['Encounter?date=ne2020-01-01T10:00', 'or(date[low lt 2020-01-01T10:00:00.000Z], date[high gt 2020-01-01T10:00:59.999Z])'],
  ['Encounter?date=ap2023-12-22', 'date[low le 2023-12-23T23:59:59.999Z & high ge 2023-12-21T00:00:00.000Z]'],
  ['Patient?_lastUpdated=gt2020-01-01', 'updated(2020-01-02T00:00:00.000Z..)'],
  ['Patient?_lastUpdated=2020', 'updated(2020-01-01T00:00:00.000Z..2020-12-31T23:59:59.999Z)'],
  ['Patient?_lastUpdated=ne2020', 'not(updated(2020-01-01T00:00:00.000Z..2020-12-31T23:59:59.999Z))'],
  // composites
  ['Observation?code-value-quantity=http://l|1$gt80||kg', 'code-value-quantity[value eq 1 & system eq http://l & high gt 80 & text eq kg]'],
  [
    'Observation?code-value-quantity=1$80|http://u|kg',
    'code-value-quantity[value eq 1 & low ge 79.5 & low lt 80.5 & high lt 80.5 & text eq http://u|kg]',
  ],
  ['Observation?code-value-concept=1$http://s|2', 'code-value-concept[value eq 1 & text eq http://s|2]'],
  ['Observation?code-value-string=1$Ab', 'code-value-string[value eq 1 & text prefix ab]'],
  [
    'Observation?code-value-date=1$2020',
    'code-value-date[value eq 1 & low ge 2020-01-01T00:00:00.000Z & low le 2020-12-31T23:59:59.999Z & high le 2020-12-31T23:59:59.999Z]',
  ],
  [
    'DocumentReference?relationship=DocumentReference/1$replaces',
    'relationship[value eq 1 & system eq DocumentReference & text eq replaces]',
  ],
  ['RelatedPerson?relationship=http://r|a', 'relationship[value eq a & system eq http://r]'],
  ['MolecularSequence?chromosome-variant-coordinate=1$lt345$gt123', 'chromosome-variant-coordinate[value eq 1 & low lt 345 & high gt 123]'],
  ['Patient?phonetic=Smith', 'phonetic[value in SM0 XMT]'],
  ['Patient?phonetic=ann smith,Jon', 'or(and(phonetic[value in AN], phonetic[value in SM0 XMT]), phonetic[value in JN AN])'],
  // everywhere
  ['Patient?_tag=http://t|x', '_tag[value eq x & system eq http://t]'],
  ['Patient?_profile=http://p', '_profile[value eq http://p & system absent]'],
  ['Patient?_source=http://p', '_source[value eq http://p]'],
  [
    'Bot?identifier=http://s|b&name=x&project=p',
    'and(identifier[value eq b & system eq http://s], name[text prefix x], project[value eq p])',
  ],
  // references followed
  ['Observation?subject:Patient.gender=female', 'refersTo(subject, Patient, gender[value eq female])'],
  ['Observation?patient.name:exact=A', 'refersTo(patient, Patient, name[value eq A])'],
  [
    'Observation?subject.identifier=x',
    'or(refersTo(subject, Group, identifier[value eq x]), refersTo(subject, Device, identifier[value eq x]), refersTo(subject, Patient, identifier[value eq x]), refersTo(subject, Location, identifier[value eq x]))',
  ],
  ['Observation?patient._id=x', 'refersTo(patient, Patient, id(x))'],
  ['Observation?patient.organization.name=x', 'refersTo(patient, Patient, refersTo(organization, Organization, name[text prefix x]))'],
  ['Patient?_has:Observation:subject:code=x', 'referredBy(subject, Observation, code[value eq x])'],
  ['Patient?_has:Observation:subject:code:not=x', 'referredBy(subject, Observation, not(code[value eq x]))'],
  [
    'Patient?_has:Observation:patient:_has:AuditEvent:entity:agent:Practitioner=p',
    'referredBy(patient, Observation, referredBy(entity, AuditEvent, agent[value eq p & system eq Practitioner]))',
  ],
  [
    'Observation?subject._has:Observation:patient:status=final',
    'refersTo(subject, Patient, referredBy(patient, Observation, status[value eq final]))',
  ],
  ['Encounter?patient._has:Group:member:_id=g', 'refersTo(patient, Patient, referredBy(member, Group, id(g)))'],
  [
    'Patient?_has:Observation:subject:encounter:Encounter.status=x',
    'referredBy(subject, Observation, refersTo(encounter, Encounter, status[value eq x]))',
  ],
]

const INVALID: readonly (readonly [query: string, named: string])[] = [
  ['constructor', 'constructor'],
  ['Nothing', 'Nothing'],
  ['Patient?nothing=1', 'nothing'],
  ['Patient?constructor=1', 'constructor'],
  ['Patient?__proto__=1', '__proto__'],
  ['Patient?=1', ''],
  ['Patient?gender=', 'gender'],
  ['Patient?gender=a,', 'gender'],
  ['Patient?gender=|', 'gender'],
  ['Patient?gender=a|b|c', 'gender'],
  ['Patient?gender:nosuch=male', 'nosuch'],
  ['Patient?gender:exact=male', 'exact'],
  ['Patient?gender:not:not=male', 'gender:not:not'],
  ['Patient?birthdate=ge19x0', 'ge19x0'],
  ['Patient?birthdate=2019-02-29', '2019-02-29'],
  ['Patient?birthdate=2019-13', '2019-13'],
  ['Patient?birthdate=2019-01-01T24:00:00Z', 'birthdate'],
  ['Patient?birthdate:not=2019', 'birthdate:not'],
  ['Patient?birthdate:missing=maybe', 'birthdate'],
  ['Patient?_lastUpdated=yesterday', 'yesterday'],
  ['Patient?_id=a/b', 'a/b'],
  ['Patient?_id:exact=a', '_id'],
  ['Patient?name= ', 'name'],
  ['RiskAssessment?probability=x', 'probability'],
  ['RiskAssessment?probability=1e999', 'probability'],
  ['RiskAssessment?probability=', 'probability'],
  ['Observation?value-quantity=5|http://u', 'value-quantity'],
  ['Observation?code-value-quantity=1', 'code-value-quantity'],
  ['Observation?code-value-quantity=1$2$3', 'code-value-quantity'],
  ['Observation?code-value-quantity:not=1$2', 'not'],
  ['Observation?subject:Patient=Group/1', 'subject:Patient'],
  ['Observation?subject:Nothing=1', 'Nothing'],
  ['Observation?subject:Medication=1', 'Medication'],
  ['Observation?subject=not an id', 'subject'],
  ['Observation?subject:Medication.code=1', 'Medication'],
  ['Observation?subject.nothing=1', 'nothing'],
  ['Observation?code.name=1', 'code'],
  ['Basic?subject.name=1', 'subject'],
  ['Observation?subject:Patient=', 'subject'],
  ['Patient?_has:Observation:subject=1', '_has'],
  ['Patient?_has=1', 'is not of the form _has:Type:reference:parameter'],
  ['Observation?subject:Patient._has=1', 'is not of the form _has:Type:reference:parameter'],
  ['Patient?_has:Nothing:subject:code=1', '_has'],
  ['Patient?_has:Observation:encounter:code=1', 'encounter'],
  ['Patient?_count=-1', '_count'],
  ['Patient?_count=1&_count=2', '_count'],
  ['Patient?_sort=nothing', 'nothing'],
  ['Patient?_sort=', '_sort'],
  ['Patient?_sort=,', "the value ',', which is not a list of search parameters"],
  ['Patient?_sort=name,-', "the value 'name,-', which is not a list of search parameters"],
  ['Patient?_summary=some', '_summary'],
  ['Patient?identifier:of-type=a|b', 'system|code|value'],
  ['Patient?identifier:of-type=a||c', 'system|code|value'],
  ['Patient?gender:of-type=a|b|c', 'of-type'],
  ['Patient?_summary=true&_elements=name', '_summary'],
  ['Patient?_total=all', '_total'],
  ['Patient?_elements=a b', '_elements'],
  ['Patient?_elements=id,Name', '_elements'],
]

const list = (count: number, item: (index: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(separator)

/** Each with the number that it may have at most, and the search with so many. */
const BOUNDS: readonly (readonly [title: string, most: number, search: (count: number) => string])[] = [
  ['sort keys', 16, (count) => `Observation?_sort=${list(count, (n) => SORTABLE[n] ?? '')}`],
  ['element names', 100, (count) => `Patient?_elements=${list(count, () => 'name')}`],
  ['includes', 64, (count) => `Patient?${list(count, () => '_include=Patient:organization', '&')}`],
  ['ids', 10_000, (count) => `Patient?_id=${list(count, (n) => `i${n}`)}`],
  [
    'ids over several parameters',
    10_000,
    (count) => `Patient?_id=${list(5_000, (n) => `i${n}`)}&_id=${list(count - 5_000, (n) => `j${n}`)}`,
  ],
  ['ids of lists', 10_000, (count) => `Patient?_list=${list(count, (n) => `i${n}`)}`],
  ['references of a chain', 8, (count) => `Observation?${'focus:Observation.'.repeat(count)}code=1`],
  ['references of _has', 8, (count) => `Observation?${'_has:Observation:focus:'.repeat(count)}code=1`],
  ['references of all parameters', 256, (count) => `Patient?${list(count, () => '_has:Observation:patient:_id=1', '&')}`],
  ['identifiers of different types', 256, (count) => `Patient?identifier:of-type=${list(count, (n) => `s|c|${n}`)}`],
  ['characters of a value', 4_096, (count) => `Patient?name=${'x'.repeat(count)}`],
  ['words of a text', 100, (count) => `Patient?_text=${list(count, () => 'x', ' ')}`],
  ['value sets', 64, (count) => `Observation?code:in=${list(count, (n) => `http://vs/${n}`)}`],
]

const SORTABLE = [
  'code',
  'date',
  'status',
  'subject',
  'encounter',
  'performer',
  'category',
  'device',
  'focus',
  'method',
  'specimen',
  'based-on',
  'derived-from',
  'has-member',
  'identifier',
  'patient',
  '_id',
]

const UNSUPPORTED: readonly (readonly [query: string, named: string])[] = [
  ['Patient?_include=Patient:organization', '_include'],
  ['Patient?_include:iterate=Patient:organization', '_include:iterate'],
  ['Patient?_revinclude=Observation:subject', '_revinclude'],
  ['Patient?_contained=true', '_contained'],
  ['Patient?_contained=both&_containedType=contained', '_contained'],
  ['Patient?_text=x', '_text'],
  ['Patient?_filter=x', '_filter'],
  ['Patient?_content=x', '_content'],
  ['Patient?_list=$current-problems', 'functional'],
  ['Condition?code:in=http://vs', 'code:in'],
  ['Condition?code:below=http://s|1', 'code:below'],
  ['Observation?_sort=code-value-date', 'code-value-date'],
]

describe('parseSearch', () => {
  it.each(TERMS)('reads %s', async (query, condition) => {
    expect(await whereOf(query)).toBe(condition)
  })

  it.each(INVALID)('refuses %s', async (query, named) => {
    await expect(parse(query)).rejects.toMatchObject({ code: 'search-invalid', message: expect.stringContaining(named) })
  })

  it.each(UNSUPPORTED)('names what is not offered: %s', async (query, named) => {
    await expect(parse(query)).rejects.toMatchObject({ code: 'search-unsupported', message: expect.stringContaining(named) })
  })

  it('refuses more parameters than it may have', async () => {
    const pairs = Array.from({ length: 1_001 }, (): SearchPair => ['gender', 'male'])
    await expect(parseSearch('Patient', pairs, { parameters })).rejects.toMatchObject({ code: 'too-costly' })
    await parseSearch('Patient', pairs.slice(1), { parameters })
  })

  it.each(BOUNDS)('takes as many %s as it may have, and not one more: %i', async (_, most, search) => {
    const options = { parameters: withWords, includes: true, codesOf: async () => [{ system: 'http://s', codes: ['1'] }] }
    const read = async (query: string): Promise<unknown> => {
      const [type = '', pairs] = query.split('?')
      return parseSearch(type, new URLSearchParams(pairs), options)
    }
    await read(search(most))
    await expect(read(search(most + 1))).rejects.toMatchObject({ code: 'too-costly', message: expect.stringContaining(`at most ${most} `) })
  })

  it('refuses a chain with too many ways, through the types that it does not name', async () => {
    await expect(parse(`Task?${'owner._has:Task:owner:'.repeat(3)}_id=1`)).rejects.toMatchObject({
      code: 'too-costly',
      message: expect.stringContaining('ways'),
    })
  })

  it('refuses a sort key that comes twice, in whatever direction', async () => {
    await expect(parse('Patient?_sort=name,birthdate,-name')).rejects.toMatchObject({
      code: 'search-invalid',
      message: expect.stringContaining("'name' twice"),
    })
  })

  it('refuses URIs that stand for too much text', async () => {
    const deep = (n: number): string => `http://${n}${'/x'.repeat(2_000)}`
    const above = (count: number): string => `ValueSet?url:above=${list(count, deep)}`
    await parse(above(2))
    await expect(parse(above(4))).rejects.toMatchObject({ code: 'too-costly' })
  })

  it('looks for a long list of values at once, wherever the list is', async () => {
    const codes = Array.from({ length: 33 }, (_, n) => `c${n}`)
    const listed = `value in ${codes.join(' ')}`
    const commas = codes.map((code) => `urn:s|${code}`).join(',')
    expect(await whereOf(`Observation?code=${commas}`)).toBe(`code[system eq urn:s & ${listed}]`)
    expect(await whereOf(`Observation?code:not=${codes.join(',')},x|y`)).toBe(`not(or(code[${listed}], code[value eq y & system eq x]))`)
    expect(await whereOf(`Patient?_has:Observation:subject:code=${commas}`)).toContain(listed)
    expect(await whereOf(`Observation?subject:Patient.organization=${codes.map((id) => `Organization/${id}`).join(',')}`)).toContain(listed)
    expect(await whereOf(`Observation?code=${codes.slice(1).join(',')}`)).not.toContain('value in')
  })

  it('asks each question for codes once', async () => {
    const asked: unknown[] = []
    const codesOf: CodeExpander = async (question) => {
      asked.push(question)
      return []
    }
    await parse('Observation?code:in=http://vs,http://vs&combo-code:in=http://vs', codesOf)
    expect(asked).toHaveLength(1)
  })

  describe('of canonicals', () => {
    const row = {
      url: 'u',
      code: 'q',
      base: ['Basic'],
      type: 'reference',
      expression: 'Basic.q',
      target: ['Questionnaire'],
      canonical: true,
    }
    const options = { parameters: searchParameters([row], { type: () => undefined, names: () => [] }) }

    it('follows none', async () => {
      await expect(parseSearch('Basic', [['q.name', 'x']], options)).rejects.toMatchObject({ code: 'search-unsupported' })
    })

    it.each([
      ['q:below', 'http://x|1.2', 'or(q[value eq http://x|1.2], q[value prefix http://x|1.2.])'],
      ['q:above', 'http://x|1.2.3', 'q[value in http://x|1 http://x|1.2 http://x|1.2.3]'],
    ])('reads %s=%s by version', async (name, value, condition) => {
      expect(written((await parseSearch('Basic', [[name, value]], options)).query.where)).toBe(condition)
    })

    it('demands the version that is to be below', async () => {
      await expect(parseSearch('Basic', [['q:below', 'http://x']], options)).rejects.toMatchObject({ code: 'search-invalid' })
    })
  })

  it.each([
    ['Patient?identifier=', 'http://s|1', 10_000],
    ['Patient?gender:not=', 'male', 10_000],
    ['Patient?identifier=', 'http://s|', 256],
    ['Observation?value-quantity=', 'gt5|http://u|mg', 256],
    ['Patient?name=', 'a', 256],
    ['Patient?name:contains=', 'a', 256],
    ['Patient?birthdate=', 'ge2000', 128],
    ['Patient?_lastUpdated=', 'ge2000', 256],
    ['Observation?subject:Patient.name=', 'a', 256],
    ['Patient?_has:Observation:patient:date=', '2000', 256],
  ])('as many values as a storage can look for at once: %s%s', async (query, value, most) => {
    const values = (count: number): string => query + Array.from({ length: count }, () => value).join(',')
    await parse(values(most))
    await expect(parse(values(most + 1))).rejects.toMatchObject({ code: 'too-costly' })
    await expect(parse(`${values(most)}&${query.split('?')[1]}${value}`)).rejects.toMatchObject({ code: 'too-costly' })
  })

  it('values of as many systems as a storage can look into', async () => {
    const values = (systems: number): string =>
      `Patient?identifier=${Array.from({ length: 2 * systems }, (_, n) => `http://s${n % systems}|${n}`).join(',')}`
    await parse(values(256))
    await expect(parse(values(257))).rejects.toMatchObject({ code: 'too-costly' })
  })

  it('reads what shapes the result', async () => {
    const parsed = await parse(
      'Patient?_count=5&_sort=-birthdate,name,_id,-_lastUpdated&_total=accurate&_elements=id,name&_cursor=abc&gender=male',
    )
    expect(parsed).toMatchObject({ countOnly: false, total: 'accurate', elements: ['id', 'name'] })
    expect(parsed.query).toMatchObject({
      limit: 5,
      after: 'abc',
      parameters: [['gender', 'male']],
      sort: [
        { param: 'birthdate', field: 'high', descending: true },
        { param: 'name', field: 'text', descending: false },
        { param: '', field: 'id', descending: false },
        { param: '', field: 'lastUpdated', descending: true },
      ],
    })
    expect((await parse('Patient?_summary=count')).countOnly).toBe(true)
    const none = await parse('Patient?_count=0')
    expect(none.countOnly).toBe(true)
    expect(none.query.limit).toBeUndefined()
  })

  it('lets other work run before each level of a hierarchy, however quickly the storage answers', async () => {
    const ring = Array.from({ length: 5 }, (_, n) => ({
      resourceType: 'Organization',
      id: `r${n}`,
      partOf: { reference: `Organization/r${(n + 1) % 5}` },
    }))
    const typed = searchParameters(publishedSearchParameters(), publishedTypes())
    const storage = memoryStorage(ring, { indexer: createIndexer(typed) })
    let steps = 0
    const options = callersSearch({ search: { parameters: typed }, storage, step: () => void steps++ })
    const { query } = await parseSearch('Organization', [['partof:below', 'Organization/r0']], options)
    expect(written(query.where)).toContain('r0 r4 r3 r2 r1')
    expect(steps).toBe(5)
  })

  it('asks for the codes of value sets and hierarchies', async () => {
    const asked: unknown[] = []
    const codesOf: CodeExpander = async (question) => {
      asked.push(question)
      return [{ system: 'http://s', codes: ['1', '2'] }]
    }
    const test = 'or(code[value in 1 2 & system eq http://s], code[value in 1 2 & system absent])'
    expect(written((await parse('Condition?code:in=http://vs', codesOf)).query.where)).toBe(test)
    expect(written((await parse('Condition?code:not-in=http://vs', codesOf)).query.where)).toBe(`not(${test})`)
    expect(written((await parse('Condition?code:below=http://s|1', codesOf)).query.where)).toBe(test)
    expect(asked).toEqual([
      { modifier: 'in', valueSet: 'http://vs' },
      { modifier: 'in', valueSet: 'http://vs' },
      { modifier: 'below', system: 'http://s', code: '1' },
    ])
    expect((await parse('Condition?code:in=http://vs', async () => [])).query.where).toEqual({ kind: 'or', conditions: [] })
    await expect(parse('Condition?code:below=1', codesOf)).rejects.toMatchObject({ code: 'search-invalid' })
  })
})

describe('searchTypesOf', () => {
  it('gives every type that a query looks at', async () => {
    const { query } = await parse('Patient?_has:Observation:patient:encounter:Encounter.status=x&organization.name:exact=y&gender:not=male')
    expect([...searchTypesOf(query)].sort()).toEqual(['Encounter', 'Observation', 'Organization', 'Patient'])
  })
})

describe('a misspelt name', () => {
  it.each([
    ['Patient?birthDate=2000', "Did you mean 'birthdate'?"],
    ['Patient?_cuont=1', "Did you mean '_count'?"],
    ['Patient?_fields=name', "Did you mean '_elements'?"],
    ['Patient?_limit=10', "Did you mean '_count'?"],
    ['Patient?_totalMethod=count', "Did you mean '_total'?"],
    ['Patient?_offset=10', "The link 'next' of a Bundle leads to its next page."],
    ['Patient?_lastupdated=2000', "Did you mean '_lastUpdated'?"],
    ['Patient?_inclde=Patient:organization', "Did you mean '_include'?"],
    ['Patient?_sort=-birthdat', "Did you mean 'birthdate'?"],
    ['Patient?_sort=_lastupdated', "Did you mean '_lastUpdated'?"],
    ['Patient?_has:Observation:patiant:code=1', "Did you mean 'patient'?"],
    ['Patient?_has:Observation:patient:cod=1', "Did you mean 'code'?"],
    ['Observation?subject.famly=x', "Did you mean 'family'?"],
    ['Observation?subject:Patient.famly=x', "Did you mean 'family'?"],
    ['Observation?subjct.name=x', "Did you mean 'subject'?"],
  ])('%s is answered by %s', async (query, hint) => {
    await expect(parse(query)).rejects.toMatchObject({ code: 'search-invalid', message: expect.stringMatching(/\.\s/) })
    await expect(parse(query)).rejects.toThrow(`. ${hint}`)
  })

  it.each(['Patient?zzzzzz=1', 'Patient?_sort=zzzzzz', 'Patient?_include=Patient:zzzzzz', 'Observation?subject.zzzzzz=x'])(
    'of which none is near, %s, suggests nothing',
    async (query) => {
      await expect(parse(query)).rejects.toThrow(/\.$/)
    },
  )

  it('does not suggest behind a reference what shapes the result', async () => {
    await expect(parse('Observation?subject:Patient._cuont=1')).rejects.toThrow(/\.$/)
  })
})

it('a text instead of pairs is refused with what makes pairs of it', async () => {
  const given: unknown[] = ['Patient', 'name=x', { parameters }]
  await expect(Reflect.apply(parseSearch, undefined, given)).rejects.toMatchObject({
    code: 'parameter-value',
    message: "pairs is the text 'name=x', of which new URLSearchParams makes pairs.",
  })
})
