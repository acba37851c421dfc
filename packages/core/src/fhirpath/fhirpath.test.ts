import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { r4Model } from '../../test/fhirpath/r4.js'
import { OperationError } from '../errors/index.js'
import { FUNCTIONS } from './functions/registry.js'
import { compileFhirPath, isNode, pathOf, PENDING, rootNode, temporalText, toSystem, type FhirPathContext, type Item } from './index.js'

const patient = {
  resourceType: 'Patient',
  id: 'p1',
  active: true,
  name: [
    { use: 'official', family: 'Chalmers', given: ['Peter', 'James'] },
    { use: 'usual', given: ['Jim'] },
    { given: [null, 'X'], _given: [{ extension: [{ url: 'u', valueString: 'why' }] }, null] },
  ],
  telecom: [{ system: 'phone', value: '(03) 5555 6473', rank: 1 }],
  birthDate: '1974-12-25',
  _birthDate: {
    id: 'b',
    extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/patient-birthTime', valueDateTime: '1974-12-25T14:35:45-05:00' }],
  },
  _gender: { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }] },
  deceasedBoolean: false,
  multipleBirthInteger: 2,
  contact: [{ relationship: [{ coding: [{ code: 'N' }] }], name: { family: 'du Marché' } }],
  managingOrganization: { reference: 'Organization/1' },
  contained: [
    {
      resourceType: 'Observation',
      id: 'o',
      status: 'final',
      code: { text: 'c' },
      valueQuantity: { value: 185, unit: 'lbs', code: '[lb_av]', system: 'http://unitsofmeasure.org' },
    },
  ],
}

type Plain = string | number | boolean | object

const rows: readonly [expression: string, expected: readonly Plain[]][] = [
  // Navigation
  ['name.given', ['Peter', 'James', 'Jim', 'X']],
  ['Patient.name.given.count()', [5]],
  ['name[0].given[1]', ['James']],
  ['name[9]', []],
  ['Observation.code', []],
  ['Resource.id', ['p1']],
  ['name.`given`.first()', ['Peter']],
  ['deceased', [false]],
  ['deceased is boolean', [true]],
  ['deceasedBoolean', []],
  ['constructor', []],
  ['multipleBirth', [2]],
  ['contained.value.unit', ['lbs']],
  ['contained.value.ofType(Quantity).value', ['185']],
  ['contained.value.as(string)', []],
  ['(contained.value as Quantity).code', ['[lb_av]']],
  ['birthDate.id', ['b']],
  ["birthDate.extension('http://hl7.org/fhir/StructureDefinition/patient-birthTime').value.exists()", [true]],
  ['gender.exists()', [true]],
  ['gender.hasValue()', [false]],
  ['gender.extension.value', ['unknown']],
  ['birthDate.hasValue()', [true]],
  ['birthDate.value is System.Date', [true]],
  ['active.getValue()', [true]],
  ['name.hasValue()', [false]],
  // Existence
  ['{}.empty()', [true]],
  ["name.exists(use = 'usual')", [true]],
  ['name.all(given.exists())', [true]],
  ['(true | false).allTrue()', [false]],
  ['(true | false).anyTrue()', [true]],
  ['{}.allTrue()', [true]],
  ['(1 | 2).subsetOf(1 | 2 | 3)', [true]],
  ['(1 | 2).supersetOf(1 | 3)', [false]],
  ['(1).combine(1).isDistinct()', [false]],
  ['(1).combine(1).combine(2).distinct().count()', [2]],
  ['{}.not()', []],
  // Filtering
  ["name.where(use = 'official').family", ['Chalmers']],
  ['name.where($index = 1).given', ['Jim']],
  ['name.select(given.first())', ['Peter', 'Jim']],
  ['(1 | 2 | 3).select($this * 2)', [2, 4, 6]],
  ['(1 | 2 | 3 | 4).aggregate($this + $total, 0)', [10]],
  ['(1 | 2 | 3).aggregate(iif($total.empty(), $this, iif($this < $total, $this, $total)))', [1]],
  ['contact.repeat(children()).ofType(code)', ['N']],
  // Subsetting and combining
  ['(1 | 2 | 3).first()', [1]],
  ['(1 | 2 | 3).last()', [3]],
  ['(1 | 2 | 3).tail()', [2, 3]],
  ['(1 | 2 | 3).skip(2)', [3]],
  ['(1 | 2 | 3).skip(-1).count()', [3]],
  ['(1 | 2 | 3).skip({})', []],
  ['(1 | 2 | 3).take(2)', [1, 2]],
  ['(1 | 2 | 3).take({})', []],
  ['(1 | 2).intersect(2 | 3)', [2]],
  ['(1 | 2).exclude(2)', [1]],
  ['(1 | 2).union(2 | 3)', [1, 2, 3]],
  ['(1 | 2).combine(2)', [1, 2, 2]],
  ['(1).single()', [1]],
  // Operators and three-valued logic
  ['1 + 2 * 3', [7]],
  ['(1 + 2) * 3', [9]],
  ['-1.abs()', [-1]],
  ['(-1).abs()', [1]],
  ['7 div 2', [3]],
  ['-7 mod 2', [-1]],
  ['1 / 0', []],
  ['5 / 2', ['2.5']],
  ['1 / 3', ['0.33333333']],
  ['0.1 + 0.2 = 0.3', [true]],
  ['1.0 + 2', ['3.0']],
  ["'a' + 'b'", ['ab']],
  ["'a' & {}", ['a']],
  ["'a' + {}", []],
  ['2147483647 + 1', []],
  ['true and {}', []],
  ['false and {}', [false]],
  ['true or {}', [true]],
  ['{} or false', []],
  ['true xor {}', []],
  ['true xor false', [true]],
  ['{} implies true', [true]],
  ['false implies {}', [true]],
  ['true implies {}', []],
  ['1 = 1.0', [true]],
  ['1 != 2', [true]],
  ['{} = 1', []],
  ['(1 | 2) = (2 | 1)', [false]],
  ['(1 | 2) ~ (2 | 1)', [true]],
  ["'Ab  c' ~ 'aB C'", [true]],
  ['1.11 ~ 1.1', [true]],
  ['{} ~ {}', [true]],
  ["'a' !~ 'b'", [true]],
  ['1 in (1 | 2)', [true]],
  ['(1 | 2) contains 3', [false]],
  ['{} in (1 | 2)', []],
  ["'a' < 'b'", [true]],
  ['1 < 1.5', [true]],
  ['telecom.rank >= 1', [true]],
  ['(1 > 2) is Boolean', [true]],
  ['1 | 2 is Integer', [1, true]],
  ['true or false and false', [true]],
  ["1 year ~ 1 'a'", [true]],
  ["1 year = 1 'a'", []],
  ['7 days ~ 1 week', [true]],
  // Types
  ['1 is Integer', [true]],
  ['1.0 is System.Decimal', [true]],
  ["'1'.is(String)", [true]],
  ['active is boolean', [true]],
  ['active is System.Boolean', [false]],
  ['$this is DomainResource', [true]],
  ['$this is System.Patient', [false]],
  ["1 'mg' is Quantity", [true]],
  ['contact.is(BackboneElement)', [true]],
  ['name.first().use is string', [true]],
  ["active.type().namespace & '.' & active.type().name", ['FHIR.boolean']],
  ['contact.type().name', ['BackboneElement']],
  ['1.type().name', ['Integer']],
  // Conversion
  ["iif(true, 'a', 'b')", ['a']],
  ["iif({}, 'a')", []],
  ["('context').iif($this = 'context', select($this), 'other')", ['context']],
  ["'12'.toInteger()", [12]],
  ["'x'.toInteger()", []],
  ["'1.50'.toDecimal()", ['1.50']],
  ["'yes'.toBoolean()", [true]],
  ['1.toBoolean()', [true]],
  ['1.50.toString()', ['1.50']],
  ['birthDate.toString()', ['1974-12-25']],
  ["'2015-02-04T14'.toDateTime()", ['2015-02-04T14']],
  ["'2015-13'.convertsToDate()", [false]],
  ["'2024-02-30'.toDate()", []],
  ["'14:34:28.123'.toTime()", ['14:34:28.123']],
  ["'1.5 \\'mg\\''.toQuantity().toString()", ["1.5 'mg'"]],
  ["'4 days'.toQuantity() = 4 days", [true]],
  ['{}.convertsToInteger()', []],
  ['1.convertsToQuantity()', [true]],
  // Text
  ["'abc'.indexOf('c')", [2]],
  ["'abc'.substring(1)", ['bc']],
  ["'abc'.substring(1, 1)", ['b']],
  ["'abc'.substring(3)", []],
  ["'abc'.startsWith('')", [true]],
  ["'abc'.contains('bc')", [true]],
  ["'abc'.upper()", ['ABC']],
  ["'abc'.replace('b', '$&')", ['a$&c']],
  ["'abc'.matches('b')", [true]],
  ["'abc'.matchesFull('b')", [false]],
  ["'a\\nb'.matches('a.b')", [true]],
  [
    "'11/30/1972'.replaceMatches('\\\\b(?<month>\\\\d{1,2})/(?<day>\\\\d{1,2})/(?<year>\\\\d{2,4})\\\\b', '${day}-${month}-${year}')",
    ['30-11-1972'],
  ],
  ["'abc'.replaceMatches('', 'x')", ['abc']],
  ["'abc'.length()", [3]],
  ["'abc'.toChars()", ['a', 'b', 'c']],
  ["'a,b'.split(',')", ['a', 'b']],
  ["('a' | 'b').join('-')", ['a-b']],
  ["'  a '.trim()", ['a']],
  ["'test'.encode('base64')", ['dGVzdA==']],
  ["'dGVzdA=='.decode('base64')", ['test']],
  ["'a>b'.encode('hex').decode('hex')", ['a>b']],
  ["'\"1<2\"'.escape('html')", ['&quot;1&lt;2&quot;']],
  ["'&lt;a&gt;'.unescape('html')", ['<a>']],
  ["'a\"b'.escape('json').unescape('json')", ['a"b']],
  ["'\\u0041\\'\\/'", ["A'/"]],
  ['{}.length()', []],
  // Math
  ['2.power(3)', [8]],
  ['(-1).power(0.5)', []],
  ['1.5.ceiling()', [2]],
  ['(-1.5).truncate()', [-1]],
  ['3.14159.round(2)', ['3.14']],
  ['2.5.round()', ['3']],
  ['81.sqrt()', ['9']],
  ['16.log(2)', ['4']],
  ['0.exp()', ['1']],
  ['(1 | 2 | 3).sum()', [6]],
  ['(1 | 2 | 4).avg()', ['2.33333333']],
  ['(3 | 1 | 2).min()', [1]],
  ['(3 | 1 | 2).max()', [3]],
  // Dates and times
  ['birthDate = @1974-12-25', [true]],
  ['birthDate < today()', [true]],
  ['@2012 = @2012-01', []],
  ['@2012 < @2013-01', [true]],
  ['@2012-01 > @2012', []],
  ['@2012 ~ @2012-01', [false]],
  ['@2018-03-01T10:00:00Z = @2018-03-01T11:00:00+01:00', [true]],
  ['@2018-03-01T10:00:00.0Z = @2018-03-01T10:00:00Z', [true]],
  ['@2018-03-01T10:00 = @2018-03-01T10:00:00', []],
  ['@T10:30 < @T11:00', [true]],
  ['@2018-01-31 + 1 month', ['2018-02-28']],
  ['@2020-02-29 - 1 year', ['2019-02-28']],
  ['@2018-12-31 + 1 day', ['2019-01-01']],
  ['@2018 + 24 months', ['2020']],
  ['@2018-03-01T23:30:00Z + 45 minutes', ['2018-03-02T00:15:00Z']],
  ['@2018-03-01T10:00:00+02:00 + 1 hour', ['2018-03-01T11:00:00+02:00']],
  ['@T23:30 + 1 hour', ['00:30']],
  ['now().toString()', ['2024-05-06T07:08:09.010Z']],
  ['today()', ['2024-05-06']],
  ['timeOfDay()', ['07:08:09.010']],
  ['now() = now()', [true]],
  ['@2024-05-06T07:08:09Z.hourOf()', [7]],
  ['@2024-05-06.yearOf()', [2024]],
  // Quantities
  ["4 'mg' = 4.0 'mg'", [true]],
  ["4 'mg' = 4 'g'", []],
  ["1 'wk' = 7 days", [true]],
  ['1 year = 12 months', [true]],
  ['1 year = 365 days', []],
  ["2 'mg' + 1 'mg'", ["3 'mg'"]],
  ["2 'mg' * 3", ["6 'mg'"]],
  ["6 'mg' / 2 'mg'", ["3 '1'"]],
  ["6 'mg' / 2", ["3 'mg'"]],
  ["6 / 2 's'", ["3 '/s'"]],
  ["12 'cm' * 3 'cm'", ["36 'cm2'"]],
  ["12 'cm2' / 3 'cm'", ["4 'cm'"]],
  ["3 'cm' * 12 'cm2'", ["36 'cm3'"]],
  ["1 'wk' + 1 'd'", ["8 'd'"]],
  ['1 hour + 30 minutes', ["90 'minute'"]],
  ["1 'mg' + 1 's'", []],
  ["(1 'mg').combine(1 's').max()", []],
  ["contained.value > 100 '[lb_av]'", [true]],
  ["1 'cm'.comparable(1 's')", [false]],
  // Precision
  ['1.587.lowBoundary(2)', ['1.58']],
  ['1.587.highBoundary(2)', ['1.59']],
  ['1.587.lowBoundary()', ['1.58650000']],
  ['@2014.highBoundary()', ['2014-12-31']],
  ['@2014-02.lowBoundary(8)', ['2014-02-01']],
  ['@2014-01-01T08.highBoundary()', ['2014-01-01T08:59:59.999-12:00']],
  ['@T10:30.highBoundary()', ['10:30:59.999']],
  ['1.587.precision()', [3]],
  ['@2014-01.precision()', [6]],
  // Variables and utilities
  ['%resource.id', ['p1']],
  ['%context.id', ['p1']],
  ['%ucum', ['http://unitsofmeasure.org']],
  ['%`vs-languages`', ['http://hl7.org/fhir/ValueSet/languages']],
  ['%vs-languages', ['http://hl7.org/fhir/ValueSet/languages']],
  ['%mine + 1', [42]],
  ["defineVariable('n', name.first()).select(%n.family)", ['Chalmers']],
  ["name.first().defineVariable('f').given.select($this & %f.family)", ['PeterChalmers', 'JamesChalmers']],
  ["1.trace('x') + 1", [2]],
  ['1 // comment\n + /* more */ 1', [2]],
  ['name.first().checkModifiers().use', ['official']],
]

const context: FhirPathContext = { now: () => new Date('2024-05-06T07:08:09.010Z'), variables: new Map([['mine', [41]]]) }

describe('expressions over a patient', () => {
  test.each(rows)('%s', (expression, expected) => {
    expect(plain(run(expression))).toEqual(expected)
  })
})

test.each(['2016-12-31T23:59:60Z', '2016-12-31T23:59:60.5Z', '2016-12-31T23:59:59.1234567890123456789Z', '2017-01-01T00:59:60+01:00'])(
  'a time as FHIR writes it has an order, with leap seconds and any number of decimals: %s',
  (dateTime) => {
    const root = rootNode(r4Model, { resourceType: 'Patient', deceasedDateTime: dateTime })
    const compiled = compileFhirPath('deceased > @2016-12-31T23:59:59Z and deceased < @2017-01-01T00:00:00Z', { model: r4Model })
    expect(compiled.test({}, root)).toBe(true)
  },
)

describe('what has no answer is an error with a code', () => {
  test.each([
    ['name.', 'offset 5'],
    ['1 +', 'offset 3'],
    ["'a", 'offset 0'],
    ['a b', 'offset 2'],
    ['foo()', 'foo'],
    ['name.sort()', 'sort() is newer than FHIRPath N1'],
    ["name.given.first().coalesce('x')", 'coalesce() is newer than FHIRPath N1'],
    ['a.exists(1, 2)', '0 to 1 arguments'],
    ['1 is Nothing', 'Nothing'],
    ['constructor()', 'constructor'],
    ['@2024-13-01', 'date'],
    ['99999999999', 'integer'],
    ["1 < 'a'", 'no order'],
    ['(1 | 2) + 1', 'one value'],
    ['(1 | 2).single()', 'one item'],
    ['name.given.length()', 'one item'],
    ['%unknown', 'unknown'],
    ["(true | 'foo').allTrue()", 'Booleans'],
    ["('a' | 'b').iif(true, 1)", 'one item'],
    ['1.type().name is Strin', 'Strin'],
    ["1.memberOf('x')", 'memberOf'],
    ["'a'.encode('rot13')", 'rot13'],
  ])('%s', (expression, reason) => {
    const error = caught(() => run(expression))
    expect([error.code, error.message.includes(reason)]).toEqual(['fhirpath-invalid', true])
  })

  test.each([
    ['nesting', () => compileFhirPath('('.repeat(65) + '1' + ')'.repeat(65))],
    ['length', () => compileFhirPath(Array.from({ length: 1_500 }, () => '1').join('+'))],
    ['steps', () => run(`${'(1|2|3|4|5|6|7|8|9|10).select('.repeat(7)}1${')'.repeat(7)}`)],
    ['patterns', () => run(`${'(1|2|3|4|5|6|7|8|9|10).select('.repeat(6)}'${'a'.repeat(400)}'.matches('(a?){1000}b')${')'.repeat(6)}`)],
    ['long replacements', () => run(`'${'a'.repeat(30_000)}'.replaceMatches('a', '${'b'.repeat(100_000)}')`)],
    ['endless repeat', () => run('1.repeat($this + 1)')],
    ['endless text', () => run(`'${'x'.repeat(100)}'.select(${Array.from({ length: 30 }, () => '($this & $this)').join(').select(')})`)],
  ])('the budget of %s', (_, action) => {
    expect(caught(action).code).toBe('fhirpath-budget')
  })

  test.each([
    'family.contains(given[0])',
    'family.lastIndexOf(given[0])',
    'family.indexOf(given[0])',
    'family.split(given[0])',
    "family.split('a')",
    "family.replace(given[0], '')",
    'family.toChars()',
    "family.matches('b')",
    "family.matchesFull('a*b')",
    "family.replaceMatches('a', 'b')",
    "family.replaceMatches('b', '')",
    'family.upper()',
    'family.startsWith(text)',
    'family.trim()',
    "family.encode('hex')",
    "family.decode('base64')",
    'family = text',
    'family != text',
    'family ~ text',
    'family < text',
    'family in (text)',
    '(family | text)',
    'text.combine(family).isDistinct()',
    '$this = %other',
    '$this ~ %other',
    'given.intersect(given)',
    'family.htmlChecks()',
  ])('a step for so many characters of a long text: %s', (expression) => {
    const name = (): object => ({
      family: 'a'.repeat(1e6),
      text: `a${'a'.repeat(1e6 - 1)}`,
      given: ['a'.repeat(3e5) + 'b' + 'a'.repeat(3e5)],
    })
    const resource = { resourceType: 'Patient', name: [name(), name()] }
    const names = compileFhirPath('name', { model: r4Model }).evaluate({}, rootNode(r4Model, resource))
    if (names === PENDING) throw new Error('Nobody is asked.')
    const context: FhirPathContext = {
      budget: { steps: 4_000, items: 100_000 },
      variables: new Map([['other', names.slice(1)]]),
      host: { htmlChecks: () => true },
    }
    const evaluate = (): unknown => compileFhirPath(expression, { model: r4Model }).evaluate(context, names.find(isNode))
    expect(caught(evaluate).code).toBe('fhirpath-budget')
  })

  test('a text that is longer than the one in which it is looked for costs no search', () => {
    const context: FhirPathContext = { budget: { steps: 1_000, items: 1_000 }, variables: new Map([['long', ['a'.repeat(2e5)]]]) }
    const evaluate = (expression: string): unknown => compileFhirPath(expression).evaluate(context)
    expect(evaluate("'abcdefghijklm'.contains(%long)")).toEqual([false])
    expect(evaluate("'abcdefghijklm'.split(%long).count()")).toEqual([1])
  })

  test('without a limit, texts are split as well', () => {
    const context: FhirPathContext = { budget: { steps: Infinity, items: Infinity } }
    expect(compileFhirPath("'a,b'.split(',')").evaluate(context)).toEqual(['a', 'b'])
  })

  test('a result of more than 100,000 items', () => {
    const many = { resourceType: 'Patient', name: Array.from({ length: 100_001 }, () => ({ use: 'usual' })) }
    expect(caught(() => compileFhirPath('name', { model: r4Model }).evaluate({}, rootNode(r4Model, many))).code).toBe('fhirpath-budget')
  })

  test('long chains within the limit do not overflow the stack', () => {
    expect(plain(run(Array.from({ length: 900 }, () => '1').join('+')))).toEqual([900])
    expect(plain(run('name' + '.first()'.repeat(450) + '.use'))).toEqual(['official'])
  })
})

describe('the place and type of a result', () => {
  test.each([
    [
      'name.given',
      [
        'Patient.name[0].given[0] string',
        'Patient.name[0].given[1] string',
        'Patient.name[1].given[0] string',
        'Patient.name[2].given[0] string',
        'Patient.name[2].given[1] string',
      ],
    ],
    ['contained.value', ['Patient.contained[0].value.ofType(Quantity) Quantity']],
    ['multipleBirth', ['Patient.multipleBirth.ofType(integer) integer']],
    ['contact', ['Patient.contact[0] Patient.contact']],
  ])('%s', (expression, expected) => {
    const items = run(expression)
    expect(items.filter(isNode).map((node) => `${pathOf(node)} ${node.type.name}`)).toEqual(expected)
  })
})

describe('the host', () => {
  const organization = rootNode(r4Model, { resourceType: 'Organization', id: '1', name: 'Acme' })

  test('resolves references', () => {
    const asked: string[] = []
    const resolve = (reference: string | undefined) => {
      asked.push(reference ?? 'no address')
      return organization
    }
    expect(plain(run('managingOrganization.resolve().name', { host: { resolve } }))).toEqual(['Acme'])
    const observation = rootNode(r4Model, { resourceType: 'Observation', subject: { type: 'Patient' } })
    compileFhirPath('subject.resolve()', { model: r4Model }).evaluate({ host: { resolve } }, observation)
    expect(asked).toEqual(['Organization/1', 'no address'])
  })

  test('an answer that is not there yet makes the evaluation pending, whatever else fails', () => {
    const path = compileFhirPath("gender.memberOf('v') and name.use.memberOf('w').single()", { model: r4Model })
    const asked: string[] = []
    const memberOf = (_: Item, valueSet: string): typeof PENDING => {
      asked.push(valueSet)
      return PENDING
    }
    expect(path.test({ host: { memberOf } }, rootNode(r4Model, patient))).toBe(PENDING)
    expect(asked).toEqual(['v'])
  })

  test('pending questions are collected in one pass, and answered in the next', () => {
    const path = compileFhirPath("name.all(use.memberOf('v'))", { model: r4Model })
    const answers = new Map<unknown, boolean>()
    const asked = new Set<unknown>()
    const memberOf = (item: Item) => {
      const code = toSystem(item)
      const answer = answers.get(code)
      if (answer === undefined) asked.add(code)
      return answer ?? PENDING
    }
    const focus = rootNode(r4Model, { resourceType: 'Patient', name: [{ use: 'usual' }] })
    expect(path.test({ host: { memberOf } }, focus)).toBe(PENDING)
    for (const code of asked) answers.set(code, true)
    expect(path.test({ host: { memberOf } }, focus)).toBe(true)
  })

  test('an unknown answer is empty', () => {
    expect(run("gender.memberOf('v')", { host: { memberOf: () => undefined } })).toEqual([])
  })

  test('trace hands over the items', () => {
    const traced: [string, number][] = []
    run("name.trace('names', given).use", { trace: (name, items) => traced.push([name, items.length]) })
    expect(traced).toEqual([['names', 5]])
  })

  test('converts units', () => {
    const convertUnit = (from: string, to: string) => (from === 'g' && to === 'mg' ? 1000 : from === 'mg' && to === 'g' ? 0.001 : undefined)
    expect(run("1 'g' = 1000 'mg'", { host: { convertUnit } })).toEqual([true])
  })

  test.each([
    ["1 'g' + 1 'mg'", "1001 'mg'"],
    ["1 'mg' + 1 'g'", "1001 'mg'"],
    ["1 'g' - 250 'mg'", "750 'mg'"],
    ["1 'g' / 500 'mg'", "2 '1'"],
    ["(1 'g').combine(500 'mg').sum()", "1500 'mg'"],
    ["(1 'g').combine(500 'mg').avg()", "750 'mg'"],
    ["(1 'g').combine(500 'mg').min()", "500 'mg'"],
    ["(500 'mg').combine(1 'g').max()", "1 'g'"],
  ])('%s is in the finer unit', (expression, expected) => {
    const convertUnit = (from: string, to: string) => (from === 'g' && to === 'mg' ? 1000 : from === 'mg' && to === 'g' ? 0.001 : undefined)
    expect(plain(run(expression, { host: { convertUnit } }))).toEqual([expected])
  })
})

test('the documentation lists every function', () => {
  const page = readFileSync(new URL('../../../../docs/fhirpath.md', import.meta.url), 'utf8')
  const listed = new Set(page.match(/[A-Za-z]+/g))
  const names = [...FUNCTIONS.keys()].filter((name) => !/^(?:to|convertsTo)[A-Z]/.test(name) || name === 'toChars')
  expect(names.filter((name) => !listed.has(name))).toEqual([])
})

test.each<readonly [expression: string, expected: readonly Plain[]]>([
  ['maritalStatus.exists()', [false]],
  ['name.count()', [1]],
  ['name.family', ['F']],
  ['children().count()', [1]],
  ['children().first().family', ['F']],
])('what has no content is not there: %s', (expression, expected) => {
  const empty = { resourceType: 'Patient', maritalStatus: {}, contact: 'x', name: [{}, 'x', null, { family: 'F' }] }
  expect(plain(compileFhirPath(expression, { model: r4Model }).evaluate({}, rootNode(r4Model, empty)))).toEqual(expected)
})

test('without a model elements are found by their JSON names', () => {
  const focus = rootNode({ type: () => undefined, names: () => [] }, { a: [{ b: 1 }, { b: 2 }], constructor: 3 })
  expect(plain(compileFhirPath('a.b').evaluate({}, focus))).toEqual([1, 2])
  expect(plain(compileFhirPath('toString | a.__proto__').evaluate({}, focus))).toEqual([])
})

function run(expression: string, more: FhirPathContext = {}): readonly Item[] {
  const result = compileFhirPath(expression, { model: r4Model }).evaluate({ ...context, ...more }, rootNode(r4Model, patient))
  if (typeof result === 'symbol') throw new Error('pending')
  return result
}

/** Decimals, quantities and dates as their text. */
function plain(items: readonly Item[] | typeof PENDING): Plain[] {
  if (typeof items === 'symbol') throw new Error('pending')
  return items.flatMap((item): Plain[] => {
    const value = toSystem(item)
    if (value === undefined) return isNode(item) && item.value === undefined ? [] : [item]
    if (typeof value !== 'object') return [value]
    if (value.kind === 'decimal') return [value.value.toFixed(value.places)]
    if (value.kind === 'quantity') return [`${value.value.value} '${value.unit}'`]
    return [temporalText(value)]
  })
}

function caught(action: () => unknown): OperationError {
  try {
    action()
  } catch (error) {
    if (error instanceof OperationError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
