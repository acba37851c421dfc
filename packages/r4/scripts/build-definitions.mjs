// Builds what `src` reads, from the published FHIR package: dist/definitions.pack, dist/types.json, dist/search-parameters.json, and
// dist/r4.bin, which is all three as one compressed file.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'
import { packOf } from 'fhir-ops/content'
import { searchParameterTable } from './search-parameter-table.mjs'
import { strip } from './strip.mjs'
import { typeTable } from './type-table.mjs'

const SOURCE = join(import.meta.dirname, '../node_modules/hl7.fhir.r4.examples')
const DIST = join(import.meta.dirname, '../dist')
const DEFINITION = /^(CodeSystem|CompartmentDefinition|OperationDefinition|SearchParameter|StructureDefinition|ValueSet)-.*\.json$/

const definitions = readdirSync(SOURCE)
  .filter((file) => DEFINITION.test(file) && file !== 'CompartmentDefinition-example.json')
  .sort()
  .map((file) => JSON.parse(readFileSync(join(SOURCE, file), 'utf8')))

const pack = packOf(definitions.map((definition) => JSON.stringify(strip(definition))))
const types = Buffer.from(JSON.stringify(typeTable(definitions)))
const searchParameters = Buffer.from(JSON.stringify(searchParameterTable(definitions)))
const header = JSON.stringify({ r4: 1, types: types.length, searchParameters: searchParameters.length })

writeFileSync(join(DIST, 'definitions.pack'), pack)
writeFileSync(join(DIST, 'types.json'), types)
writeFileSync(join(DIST, 'search-parameters.json'), searchParameters)
writeFileSync(
  join(DIST, 'r4.bin'),
  gzipSync(Buffer.concat([Buffer.from(`${header}\n`), types, searchParameters, pack]), { level: constants.Z_BEST_COMPRESSION }),
)
