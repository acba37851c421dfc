import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../program.js'

let folder = ''
const at = (name: string): string => join(folder, name)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-validate-'))
  await mkdir(at('sub'))
  await writeFile(at('a.json'), '{\n  "resourceType": "Patient",\n\t"birthdate": "2020"\n}\n')
  await writeFile(at('sub/b.ndjson'), '{"resourceType":"Patient"}\r\n\r\n{"resourceType":"Patient","active":"yes"}\r\n')
  await writeFile(at('sub/c.json.gz'), gzipSync('{"resourceType":"Patient","name":[]}'))
  await writeFile(at('sub/d.json'), '<Patient/>')
})

afterAll(() => rm(folder, { recursive: true }))

async function validated(args: readonly string[], isTerminal = false, stdin = '{"resourceType":"Patient"}') {
  const out: string[] = []
  const err: string[] = []
  const status = await run(['validate', ...args], {
    out: (line) => void out.push(line),
    err: (line) => void err.push(line),
    stdin: () => Promise.resolve(stdin),
    isTerminal,
  })
  // On a slow machine there is progress among what is said.
  return { status, out: out.join('\n').replaceAll(`${folder}/`, ''), err: err.filter((line) => !line.startsWith('… ')).join('\n') }
}

describe('findings as text', () => {
  test('have place, line of the file, caret, advice and fix; their number comes last and elsewhere', async () => {
    expect(await validated([at('a.json')])).toEqual({
      status: 1,
      out: [
        'a.json:3:15: error at Patient.birthdate: Invalid additional property "Patient.birthdate" [unknown-property]',
        '    3 |  "birthdate": "2020"',
        '      |               ^',
        "  help: Did you mean 'birthDate'?",
        '  fix: [{"op":"move","from":"/birthdate","path":"/birthDate"}]',
      ].join('\n'),
      err: '1 resource checked: 0 valid, 1 invalid (1 error, 0 warnings)',
    })
  })

  test.each([
    ['a folder', () => [folder], ['a.json:3:15', 'sub/b.ndjson:3:36', 'sub/c.json.gz:1:34', 'sub/d.json:1:1']],
    ['a pattern', () => [at('**/*.json')], ['a.json:3:15', 'sub/d.json:1:1']],
    ['several paths', () => [at('sub/b.ndjson'), at('a.json')], ['sub/b.ndjson:3:36', 'a.json:3:15']],
  ])('name the file and line in %s', async (_, paths, places) => {
    const { out } = await validated(paths())
    expect(out.match(/^\S+:\d+:\d+(?=: )/gm)).toEqual(places)
  })

  test.each([
    ['XML', '<Patient/>', '1:1', 'it is XML or HTML; only JSON is read'],
    ['nothing', ' \n', '2:1', 'it is empty'],
    [
      'lines of NDJSON',
      '{"resourceType":"Patient"}\n{"resourceType":"Patient"}\n',
      '2:1',
      'another resource follows the first; a file with one on each line is named .ndjson, others are a Bundle',
    ],
    ['a resource and more', '{"resourceType":"Patient"}]', '1:27', 'something follows the end of the resource'],
  ])('say that a file has %s', async (_, text, place, content) => {
    await writeFile(at('other.json'), text)
    const { status, out } = await validated([at('other.json')])
    await rm(at('other.json'))
    expect([status, out]).toEqual([
      1,
      expect.stringContaining(`other.json:${place}: fatal: The text is not one resource as JSON: ${content}. [json-fatal]`),
    ])
  })

  test('say what is unexpected in a file that is meant as JSON', async () => {
    await writeFile(at('other.json'), '{"resourceType":}')
    const { out } = await validated([at('other.json')])
    await rm(at('other.json'))
    expect(out).toContain("other.json:1:17: fatal: The text is not valid JSON: unexpected '}'. [json-fatal]")
  })

  test('tell the lines of NDJSON on standard input', async () => {
    const { out, err } = await validated([], false, '{"resourceType":"Patient"}\n\n{"resourceType":"Patient","active":"yes"}\n')
    expect([out.match(/^\S+:\d+:\d+(?=: )/gm), err]).toEqual([['stdin:3:36'], expect.stringContaining('2 resources checked: 1 valid')])
  })

  test('show of a long line the part around the place, and nothing that a terminal would obey', async () => {
    await writeFile(
      at('long.txt'),
      `{"resourceType":"Patient","name":[{"text":"${'x'.repeat(500)}\u001b[31m"}],"foo":1,"y":"${'y'.repeat(500)}"}`,
    )
    const { out } = await validated([at('long.txt')])
    expect(out).not.toContain('\u001b')
    for (const [, code = '', caret = ''] of out.matchAll(/^ +1 \| (.*)\n +\| ( *\^)$/gm)) {
      expect([code.length <= 102, caret.length <= 53]).toEqual([true, true])
    }
  })

  test('do not let the name of a file act on a terminal, or begin a line', async () => {
    const file = at('a\u001b[31mb\nc.json')
    await writeFile(file, '{"resourceType":"Patient","foo":1}')
    const { out } = await validated([file])
    await rm(file)
    expect(out.split('\n')[0]).toContain('a [31mb c.json:1:33: error at Patient.foo')
    expect(out).not.toContain('\u001b')
  })

  test('have colours on a terminal only', async () => {
    expect((await validated([at('a.json')])).out).not.toContain('\u001b[')
    expect((await validated([at('a.json')], true)).out).toContain('\u001b[31merror\u001b[39m')
  })

  test('are none, with status 0, when all is well', async () => {
    await writeFile(at('good.txt'), '{"resourceType":"Patient"}')
    expect(await validated([at('good.txt')])).toEqual({ status: 0, out: '', err: '1 resource checked: 1 valid, 0 invalid' })
  })
})

describe('findings for programs', () => {
  test('as JSON are one OperationOutcome a line, with file, line and column', async () => {
    const { out, status } = await validated([at('sub/b.ndjson'), '--format', 'json'])
    const [, second] = out.split('\n').map((line): unknown => JSON.parse(line))
    expect(status).toBe(1)
    expect(second).toMatchObject({
      resourceType: 'OperationOutcome',
      extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/operationoutcome-file', valueString: 'sub/b.ndjson' }],
      issue: [{ extension: [{ valueString: 'primitive-type' }, { valueInteger: 3 }, { valueInteger: 36 }] }],
    })
  })

  test('as SARIF are one log of results by rule, with the fix', async () => {
    const { out, status } = await validated([at('a.json'), at('sub/c.json.gz'), '--format', 'sarif'])
    const log: unknown = JSON.parse(out)
    expect(status).toBe(1)
    expect(log).toMatchObject({
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: {
              name: 'fhir-ops',
              rules: [{ id: 'unknown-property' }, { id: 'empty-array', defaultConfiguration: { level: 'error' } }],
            },
          },
          columnKind: 'utf16CodeUnits',
          results: [
            {
              ruleId: 'unknown-property',
              level: 'error',
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: expect.stringMatching(/^file:.*a\.json$/) },
                    region: { startLine: 3, startColumn: 15 },
                  },
                  logicalLocations: [{ fullyQualifiedName: 'Patient.birthdate' }],
                },
              ],
              properties: { jsonPatch: [{ op: 'move', from: '/birthdate', path: '/birthDate' }] },
            },
            { ruleId: 'empty-array' },
          ],
        },
      ],
    })
  })

  test('as SARIF are an empty log when there are none', async () => {
    await writeFile(at('good.txt'), '{"resourceType":"Patient"}')
    const { out, status } = await validated([at('good.txt'), '--format', 'sarif'])
    expect([status, JSON.parse(out)]).toMatchObject([0, { runs: [{ results: [] }] }])
  })
})

describe('findings that are accepted', () => {
  const accepting = async (until: string): Promise<readonly string[]> => {
    await writeFile(
      at('accepted.txt'),
      JSON.stringify([{ id: 'unknown-property', at: 'Patient.birthdate', reason: 'an old sender', until }]),
    )
    return ['--suppress', at('accepted.txt')]
  }

  test('are not told before their last day is over', async () => {
    expect(await validated([at('a.json'), ...(await accepting('9999-12-31'))])).toMatchObject({ status: 0, out: '' })
  })

  test('are told again after it, with the suppression that has expired', async () => {
    const { status, out, err } = await validated([at('a.json'), ...(await accepting('2020-12-31'))])
    expect(status).toBe(1)
    expect(out).toContain('[unknown-property]')
    expect(out).toContain('[suppression-expired]')
    expect(err).toContain('the suppression of unknown-property expired on 2020-12-31')
  })

  test('are refused with the reason when their file is not there, and with the place when it is not JSON', async () => {
    expect((await validated([at('a.json'), '--suppress', at('none.txt')])).err).toMatch(
      /none\.txt cannot be read: no such file or directory\./,
    )
    await writeFile(at('accepted.txt'), '[\n{"id":}]')
    expect((await validated([at('a.json'), '--suppress', at('accepted.txt')])).err).toMatch(
      /accepted\.txt:2:7 is not JSON: unexpected "}"\./,
    )
  })

  test.each([
    ['no JSON', '['],
    ['no list', '{}'],
    ['an unknown member', '[{"id":"narrative","reason":"x","until":"9999-12-31","because":"x"}]'],
    ['no reason', '[{"id":"narrative","until":"9999-12-31"}]'],
  ])('are refused when the file holds %s', async (_, text) => {
    await writeFile(at('accepted.txt'), text)
    expect((await validated([at('a.json'), '--suppress', at('accepted.txt')])).out).toBe('')
  })

  test('of lower levels and best practices are told as asked', async () => {
    await writeFile(at('good.txt'), '{"resourceType":"Patient"}')
    expect((await validated([at('good.txt'), '--best-practice', 'warning'])).out).toContain('warning at Patient: dom-6')
    expect((await validated([at('good.txt'), '--best-practice', 'warning', '--level', 'error'])).out).toBe('')
  })
})

describe('wrong use', () => {
  test.each([
    ['an unknown format', ['--format', 'xml'], 2],
    ['a file that is not there', ['nothing.json'], 2],
    ['a pattern that fits nothing', ['nothing/*.json'], 2],
    ['an unknown profile', ['--profile', 'http://example.org/none'], 1],
  ])('%s has a status of its own', async (_, args, status) => {
    expect((await validated(args)).status).toBe(status)
  })
})

describe('what is asked of each resource', () => {
  const findings = async (resource: object, ...args: readonly string[]): Promise<readonly string[]> => {
    const { out, err } = await validated(['--format', 'github', ...args, '-'], false, JSON.stringify(resource))
    return out === '' ? [err] : out.split('\n').map((line) => line.replace(/^::(\w+) .*title=(.*)::.*$/, '$1 $2'))
  }
  const PATIENT = { resourceType: 'Patient', active: true }
  const BUNDLE = {
    resourceType: 'Bundle',
    type: 'collection',
    entry: [{ fullUrl: 'http://a.test/Patient/1', resource: { ...PATIENT, id: '1' } }],
  }
  const GROUP = 'http://hl7.org/fhir/StructureDefinition/actualgroup'

  test.each<readonly [args: readonly string[], resource: object, expected: readonly string[]]>([
    [['--resource-id', 'required'], PATIENT, ['error resource-id at Patient']],
    [['--resource-id', 'prohibited'], { ...PATIENT, id: 'x' }, ['error resource-id at Patient']],
    [['--bundle', `Patient:0=${GROUP}`], BUNDLE, ['error profile-type at Bundle.entry[0].resource']],
    [['--bundle', `1=${GROUP}`], BUNDLE, ['warning bundle-rule-unused at Bundle']],
    [['--rule', 'unknown-property=warning'], { ...PATIENT, foo: 1 }, ['warning unknown-property at Patient.foo']],
    [['--rule=unknown-property=off', '--level', 'error'], { ...PATIENT, foo: 1 }, ['']],
    [
      ['--refuse', 'examples', '--refuse', 'markup'],
      { ...PATIENT, identifier: [{ system: 'http://example.org/x', value: '<b>x</b>' }] },
      ['error uri-example at Patient.identifier[0].system', 'error string-markup at Patient.identifier[0].value'],
    ],
    [
      ['--assume-valid-rest-references'],
      { ...PATIENT, managingOrganization: { reference: 'https://a.test/Patient/1' } },
      ['error reference at Patient.managingOrganization'],
    ],
    [
      ['--validate-references', 'exists'],
      { ...PATIENT, managingOrganization: { reference: 'Organization/nobody' } },
      ['error reference at Patient.managingOrganization'],
    ],
    [
      ['--extension-domain', 'https://a.test/', '--extension-domain', 'https://b.test/'],
      {
        ...PATIENT,
        extension: [
          { url: 'https://a.test/x', valueString: 'x' },
          { url: 'https://c.test/x', valueString: 'x' },
        ],
      },
      ['error extension-unknown at Patient.extension[1]'],
    ],
    [
      ['--no-validate-contained'],
      { ...PATIENT, contained: [{ resourceType: 'Organization', id: 'o', nothing: 1 }], managingOrganization: { reference: '#o' } },
      [''],
    ],
    [
      ['--questionnaire', 'required'],
      { resourceType: 'QuestionnaireResponse', status: 'completed' },
      ['error questionnaire-unknown at QuestionnaireResponse'],
    ],
    [
      ['--must-support', 'unmarked', '--profile', 'http://hl7.org/fhir/StructureDefinition/bodyweight'],
      {
        resourceType: 'Observation',
        status: 'final',
        category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] }],
        code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }] },
        subject: { reference: 'Patient/1' },
        effectiveDateTime: '2020-01-01',
        valueQuantity: { value: 70, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
        bodySite: { text: 'x' },
      },
      ['notice must-support-unmarked at Observation.bodySite'],
    ],
  ])('%j', async (args, resource, expected) => {
    const found = await findings(resource, ...args)
    if (expected[0] === '') expect(found.join()).not.toMatch(/error|unknown-property/)
    else for (const one of expected) expect(found).toContain(one)
  })

  test.each<readonly [args: readonly string[], said: string]>([
    [['--bundle', 'Patient:0'], 'It must be like Patient:0='],
    [['--bundle', `Patiend:0=${GROUP}`], "Did you mean 'Patient'"],
    [['--rule', 'invarient=off'], "there is no such kind of finding. Did you mean 'invariant'? [parameter-value at --rule]"],
    [['--rule', 'invariant=off', '--rule', 'invariant=error'], 'There are both off and error for invariant.'],
    [['--rule', 'invariant=loud'], 'The severity must be one of off, information, warning, error.'],
    [['--refuse', 'everything'], 'markup, markdown, examples, experimental'],
    [['--resource-id', 'maybe'], 'optional, required, prohibited'],
    [['--must-suport', 'all'], '--must-support'],
    [['-ig', 'hl7.fhir.us.core'], "For -ig of HL7's validator: --load FILE."],
    [['-bundle', 'Patient:0', GROUP], "For -bundle of HL7's validator: --bundle RULE=PROFILE."],
    [['-profile', GROUP], "For -profile of HL7's validator: --profile."],
    [['--hintAboutNonMustSupport'], "For --hintAboutNonMustSupport of HL7's validator: --must-support unmarked."],
    [['-tx', 'n/a'], 'no server is asked'],
  ])('%j is wrong use, with what is meant', async (args, said) => {
    const { status, err } = await validated([...args, '-'], false, JSON.stringify(BUNDLE))
    expect([status, err]).toEqual([2, expect.stringContaining(said)])
  })
})
