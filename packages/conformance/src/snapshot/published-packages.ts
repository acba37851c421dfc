import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { suitePath } from '../../../../test/suites.js'

/** A package whose snapshots are compared with ours. */
interface PublishedPackage {
  readonly name: string
  /** Its StructureDefinitions; `undefined` if the package is not available. */
  readonly read: () => readonly JsonObject[] | undefined
}

const require = createRequire(fileURLToPath(new URL('../../../r4/package.json', import.meta.url)))
/** The folder for `npm pack`, as described in `packages/conformance/oracle/README.md`. */
const ARCHIVES = fileURLToPath(new URL('../../oracle/target/home/archives', import.meta.url))

/** The published definitions of R4, with their differentials and texts. */
export const RELEASE: PublishedPackage = {
  name: 'hl7.fhir.r4.examples 4.0.1',
  read: () => inFolder(dirname(require.resolve('hl7.fhir.r4.examples/package.json'))),
}

/** Extensions that other packages use. */
export const EXTENSIONS: PublishedPackage = archive('hl7.fhir.uv.extensions.r4', '5.3.0-ballot-tc1')

/** All packages that are compared, those created with the oldest tools first. */
export const PACKAGES: readonly PublishedPackage[] = [
  RELEASE,
  suite('hl7.fhir.us.core', '3.1.1'),
  suite('hl7.fhir.us.core', '4.0.0'),
  suite('hl7.fhir.uv.ips', '1.1.0'),
  archive('hl7.fhir.us.mcode', '4.0.0'),
  archive('hl7.fhir.uv.ips', '2.0.0'),
  archive('hl7.fhir.uv.sdc', '4.0.0-ballot'),
  archive('hl7.terminology.r4', '7.0.1'),
  EXTENSIONS,
]

function inFolder(folder: string): readonly JsonObject[] {
  const files = readdirSync(folder).filter((file) => /^StructureDefinition-.*\.json$/.test(file))
  return files.sort().flatMap((file) => definitionIn(readFileSync(join(folder, file), 'utf8')))
}

/** A package of a test suite, whose definitions have no texts. */
function suite(name: string, version: string): PublishedPackage {
  const file = suitePath('validator-tests', 'packages', `${name}_${version}.ndjson`)
  return {
    name: `${name} ${version}`,
    read: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').flatMap(definitionIn) : undefined),
  }
}

function archive(name: string, version: string): PublishedPackage {
  const file = join(ARCHIVES, `${name}-${version}.tgz`)
  return {
    name: `${name} ${version}`,
    read: () => (existsSync(file) ? [...filesIn(gunzipSync(readFileSync(file)))].flatMap(definitionIn) : undefined),
  }
}

const BLOCK = 512

/** The texts of the StructureDefinitions in a tar archive. */
function* filesIn(tar: Buffer): Generator<string> {
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const name = tar.toString('utf8', at, at + 100).split('\0', 1)[0] ?? ''
    const size = Number.parseInt(tar.toString('ascii', at + 124, at + 136), 8)
    if (/^package\/StructureDefinition-.*\.json$/.test(name)) yield tar.toString('utf8', at + BLOCK, at + BLOCK + size)
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
}

function definitionIn(text: string): readonly JsonObject[] {
  if (!text.includes('"StructureDefinition"')) return []
  const parsed: unknown = JSON.parse(text)
  return isObject(parsed) && parsed['resourceType'] === 'StructureDefinition' ? [parsed] : []
}
