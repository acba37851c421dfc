import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { unitConversion, unitsOfMeasure } from '@fhir-ops/registries/ucum'
import { csvRows, releaseFiles, releaseLines, type ReleaseFile } from '@fhir-ops/releases'
import { r4TypeModel } from '@fhir-ops/r4'
import { compileFhirPath, rootNode } from 'fhir-ops/fhirpath'
import { parseHl7 } from 'fhir-ops/hl7v2'
import { readJsonSource, readStrictJson } from 'fhir-ops/internal/json'
import { readPackage } from 'fhir-ops/packages'
import { finished } from 'fhir-ops/internal/work'
import { EclError, parseEcl } from '../../../snomed/src/ecl/index.js'
import { readRf2, rf2Files } from '../../../snomed/src/import/rf2.js'
import { simplerBytes, simplerText, type FuzzTarget } from './fuzz.js'
import { changed, damaged, sentence, type Random } from './random.js'

const text = { simpler: simplerText }

const ECL = {
  words:
    '< << > >> <! ^ * ( ) [ ] { } {{ }} : , . = != >= #1 "x" AND OR MINUS R 0..1 1..* |term| C D M + term active type dialect history 404684003 363698007 39057004'.split(
      ' ',
    ),
  examples: [
    '<< 404684003 |Clinical finding| : 363698007 = << 39057004',
    '< 19829001 AND < 301867009 MINUS (^ 700043003 OR >! 40541001)',
    '<< 73211009 {{ term = (match:"heart" wild:"*att*"), type = syn, dialect = en-gb (prefer) }} {{ C active = true }}',
    '< 27658006 : [1..3] 127489000 = *, { 411116001 = << 385268001, 3264475007 >= #5 }',
    '(< 105590001 . 127489000) {{ +HISTORY-MIN }}',
  ],
}

export const ecl: FuzzTarget<string> = {
  ...text,
  name: 'ECL',
  input: (random) => sentence(random, ECL),
  take: parseEcl,
  isForeseen: (error) => error instanceof EclError,
}

const FHIRPATH = {
  words:
    "Observation code value status $this $index %resource %x {} ( ) [ ] . , + - * / div mod & | = != ~ < >= and or xor implies in contains is as where( select( repeat( exists() count() first() all( iif( replaceMatches( 'x' '[a-z]+' matches( 1 0.5 -3 @2020 @2020-01-01T00:00 @T12 1'mg' 10 days true ofType( as( toString() toQuantity() trace( children() descendants() join( aggregate( $total".split(
      ' ',
    ),
  examples: [
    "Observation.component.where(code.text = 'x').value.ofType(string)",
    "iif(status = 'final', value.toString().matches('^[0-9]+$'), {})",
    'descendants().where($this is Quantity).select(value * 2).aggregate($this + $total, 0)',
    "repeat(children()).exists(contains('a' | 'b')) implies effective <= now() - 10 days",
  ],
}
const MODEL = r4TypeModel()
const FOCUS = rootNode(MODEL, {
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 's', code: 'c' }] },
  valueQuantity: { value: 1.5, unit: 'g' },
  component: [{ code: { text: 'x' }, valueString: 'y' }],
})

export const fhirPath: FuzzTarget<string> = {
  ...text,
  name: 'FHIRPath',
  input: (random) => sentence(random, FHIRPATH),
  take: (expression) =>
    compileFhirPath(expression, { model: MODEL }).evaluate({ now: () => new Date(0), host: { resolve: () => undefined } }, FOCUS),
}

const HL7 = {
  words: ['MSH', 'PID', 'OBX', '|', '^', '~', '\\', '&', '\\F\\', '\\X0D\\', '\\.br\\', '\r', '\n', '1', 'ADT^A01', 'é'],
  examples: [
    'MSH|^~\\&|LAB|CITY|APP|CLINIC|20260203093000||ORU^R01|42|P|2.5.1\rPID|1||7^^^A~8||LOVELL^ADA\\S\\B\rOBX|1|NM|x||5|kg',
    'MSH#*@!%#A#B#C#D#20260203##ADT*A01#1#P#2.4\nPID#1',
  ],
}

export const hl7v2: FuzzTarget<string> = {
  ...text,
  name: 'HL7 v2',
  input: (random) => sentence(random, HL7),
  take(message) {
    const parsed = parseHl7(message)
    parsed.get('PID.5.1')
    return String(parsed)
  },
}

const JSON_TEXTS = {
  words: [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"a"',
    '"resourceType"',
    '1',
    '-0.50',
    '1e5',
    'true',
    'null',
    '"\\u00e9"',
    '"\\ud800"',
    '// x',
    "'",
  ],
  examples: [
    '{"resourceType":"Patient","id":"x","name":[{"family":"Lovell","given":["Ada"]}],"active":true}',
    '{"resourceType":"Observation","valueQuantity":{"value":1.50,"unit":"g"},"extension":[{"url":"u","valueDecimal":1e-7}]}',
  ],
}

export const json: FuzzTarget<string> = {
  ...text,
  name: 'JSON',
  input: (random) => sentence(random, JSON_TEXTS),
  take(source) {
    finished(readJsonSource(source))
    return finished(readStrictJson(source, { maxDepth: 128, maxMembers: 10_000, maxString: 10_000 }))
  },
}

const UNITS = {
  words: 'm g s mol k L dL mm [in_i] 10* ^ 2 -3 . / ( ) { } {x} % Cel [degF] mg kg/m2 /min U [iU] 10*3'.split(' '),
  examples: ['mg/dL', '10*3/uL', 'kg.m/s2', 'mL/min/{1.73_m2}', '[in_i]', 'mm[Hg]'],
}
const units = unitsOfMeasure()
const convert = unitConversion()

export const ucum: FuzzTarget<string> = {
  ...text,
  name: 'UCUM',
  input: (random) => sentence(random, UNITS),
  take(code) {
    return [convert(code, 'mg'), units.find(code), units.whyNot?.(code)]
  },
}

/** A file of a release with some content. */
function fileOf(name: string, content: string): ReleaseFile {
  const bytes = new TextEncoder().encode(content)
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000)
  }
  return { name, size: bytes.length, bytes: pieces, mark: async () => name }
}

const CSV = {
  words: ['"', '""', ',', '\n', '\r\n', '\r', 'a', '1', ';', '\t'],
  examples: ['"LOINC_NUM","COMPONENT"\r\n"1-8","Acyclovir ""x"""\r\n"2-6",\n', 'a,b,c\n1,2,3\n"x\ny",,\n'],
}

export const csv: FuzzTarget<string> = {
  ...text,
  name: 'CSV',
  input: (random) => sentence(random, CSV),
  async take(content) {
    for await (const row of csvRows(fileOf('x.csv', content))) void row
  },
}

const COMPONENT = 'id\teffectiveTime\tactive\tmoduleId'
const RF2 = {
  words: ['\t', '\n', '\r\n', '1', '0', '404684003', '20260101', 'en', 'Clinical finding', '900000000000207008'],
  examples: [
    `${COMPONENT}\tdefinitionStatusId\n404684003\t20260101\t1\t900000000000207008\t900000000000074008\n`,
    `${COMPONENT}\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId\n1\t20260101\t1\t2\t404684003\ten\t900000000000013009\tx\t900000000000448009\n`,
    `${COMPONENT}\tsourceId\tdestinationId\trelationshipGroup\ttypeId\tcharacteristicTypeId\tmodifierId\n1\t\t1\t2\t3\t4\t0\t116680003\t5\t6\n`,
  ],
}

/** Three files, one of which is damaged. */
export const rf2: FuzzTarget<string> = {
  ...text,
  name: 'RF2',
  input: (random) => changed(random, random.one(RF2.examples), RF2.words),
  async take(content) {
    const contents = [...RF2.examples, content].entries()
    const files = [...contents].map(([index, one]) => fileOf(`sct2_Snapshot_${index}.txt`, one))
    await readRf2(
      await rf2Files(files, () => {}),
      () => {},
      () => {},
    )
    for await (const lines of releaseLines(fileOf('x', content))) void lines
  },
}

export const tar: FuzzTarget<Uint8Array<ArrayBuffer>> = {
  name: 'tar',
  share: 0.1,
  simpler: simplerBytes,
  input: (random) => damaged(random, random.one(TARS)),
  take: (bytes) => readPackage(new Blob([gzipSync(bytes)]).stream(), { maxBytes: 1 << 20 }),
}

const MANIFEST = '{"name":"example","version":"1.0.0","fhirVersions":["4.0.1"]}'
const VALUE_SET = '{"resourceType":"ValueSet","id":"a","url":"http://example.org/a","status":"active"}'
const TARS = [
  [
    ['package/package.json', MANIFEST],
    ['package/ValueSet-a.json', VALUE_SET],
  ],
  [
    ['././@LongLink', 'package/'.padEnd(150, 'x'), 'L'],
    ['PaxHeader', '30 path=package/ValueSet-b.json\n', 'x'],
    ['package/package.json', MANIFEST],
  ],
].map((entries) =>
  Buffer.concat([...entries.map(([name = '', content = '', kind]) => tarEntry(name, content, kind)), new Uint8Array(1_024)]),
)

function tarEntry(name: string, content: string, kind = '0'): Uint8Array {
  const bytes = Buffer.alloc(512 * (1 + Math.ceil(content.length / 512)))
  bytes.write(name, 0)
  bytes.write(content.length.toString(8).padStart(11, '0'), 124)
  bytes.write(kind, 156)
  bytes.write('ustar', 257)
  bytes.write(content, 512)
  return bytes
}

/** Releases come as files; each input is one. */
export const zip: FuzzTarget<Uint8Array<ArrayBuffer>> = {
  name: 'zip',
  share: 0.05,
  simpler: simplerBytes,
  input: (random) => (random.seldom(2) ? damaged(random, ZIP) : damagedAtEnd(random)),
  async take(bytes) {
    const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-fuzz-'))
    try {
      const file = join(folder, 'x.zip')
      writeFileSync(file, bytes)
      for (const entry of await releaseFiles(file)) for await (const piece of entry.bytes()) void piece
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

/** The directory of an archive is at its end. */
function damagedAtEnd(random: Random): Uint8Array<ArrayBuffer> {
  const start = ZIP.length - 160
  return Uint8Array.from([...ZIP.subarray(0, start), ...damaged(random, ZIP.subarray(start))])
}

const ZIP = zipOf([
  ['a/Snapshot_x.txt', RF2.examples.join('')],
  ['b.csv', CSV.examples.join('')],
])

function zipOf(files: readonly (readonly [string, string])[]): Uint8Array {
  const [local, directory]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const [name, content] of files) {
    const packed = deflateRawSync(content)
    const fixed = Buffer.alloc(26)
    fixed.writeUInt16LE(20, 0)
    fixed.writeUInt16LE(8, 4)
    fixed.writeUInt32LE(crc32(content), 10)
    fixed.writeUInt32LE(packed.length, 14)
    fixed.writeUInt32LE(Buffer.byteLength(content), 18)
    fixed.writeUInt16LE(name.length, 22)
    const header = Buffer.concat([Buffer.from('PK\u0003\u0004'), fixed, Buffer.from(name), packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), fixed, tail, Buffer.from(name)]))
    local.push(header)
    at += header.length
  }
  const size = directory.reduce((sum, entry) => sum + entry.length, 0)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...local, ...directory, end])
}
