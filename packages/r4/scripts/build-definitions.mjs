// Builds what `src` reads, from the published FHIR package: dist/definitions.pack, dist/types.json, dist/search-parameters.json.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

writeFileSync(join(DIST, 'definitions.pack'), packOf(definitions.map((definition) => JSON.stringify(strip(definition)))))
writeFileSync(join(DIST, 'types.json'), JSON.stringify(typeTable(definitions)))
writeFileSync(join(DIST, 'search-parameters.json'), JSON.stringify(searchParameterTable(definitions)))
