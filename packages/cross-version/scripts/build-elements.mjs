// Builds what `src` reads, dist/elements-<release>.json, from the packages that FHIR publishes.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { releaseElements } from 'fhir-ops/cross-version'
import { elementsOfPaths } from './elements-of-paths.mjs'

const PACKAGES = join(import.meta.dirname, '../node_modules')
const DIST = join(import.meta.dirname, '../dist')
const DEFINITION = /^(CodeSystem|StructureDefinition|ValueSet)-.*\.json$/

const json = (file) => JSON.parse(readFileSync(file, 'utf8'))

function packageNamed(name) {
  const folder = join(PACKAGES, name)
  return { folder, source: `${name}#${json(join(folder, 'package.json')).version}` }
}

/** From the definitions of a release. */
function fromDefinitions(release, name) {
  const { folder, source } = packageNamed(name)
  const definitions = readdirSync(folder)
    .filter((file) => DEFINITION.test(file))
    .sort()
    .map((file) => json(join(folder, file)))
  return releaseElements(definitions, { release, source })
}

/** From the list that HL7's validator works with: of DSTU2 no registry of packages has the definitions. */
function fromPaths(release) {
  const { folder, source } = packageNamed('hl7.fhir.xver-extensions')
  return elementsOfPaths(json(join(folder, `other/xver-paths-${release}.json`)), { release, source })
}

const tables = [
  fromPaths('1.0'),
  fromDefinitions('3.0', 'hl7.fhir.r3.examples'),
  fromDefinitions('4.3', 'hl7.fhir.r4b.core'),
  fromDefinitions('5.0', 'hl7.fhir.r5.core'),
]
for (const table of tables) writeFileSync(join(DIST, `elements-${table.release}.json`), JSON.stringify(table))
