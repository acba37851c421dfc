// Builds what `src` reads, from published packages: dist/registries.pack, dist/subtags.json and the notices of what is in them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import currencies from 'currency-codes/data.js'
import { iso31661, iso31662 } from 'iso-3166'
import registry from 'language-subtag-registry/data/json/registry.json' with { type: 'json' }
import { packOf } from 'fhir-ops/content'
import { countries, currencySystem, subdivisions } from './code-systems.mjs'
import { subtagTable } from './subtag-table.mjs'

const SOURCES = ['currency-codes', 'iso-3166', 'language-subtag-registry']
const DIST = join(import.meta.dirname, '../dist')

mkdirSync(DIST, { recursive: true })
writeFileSync(
  join(DIST, 'registries.pack'),
  packOf([countries(iso31661), subdivisions(iso31662), currencySystem(currencies)].map((system) => JSON.stringify(system))),
)
writeFileSync(join(DIST, 'subtags.json'), JSON.stringify(subtagTable(registry)))
writeFileSync(join(DIST, 'NOTICES.txt'), SOURCES.map(notice).join('\n'))

function notice(name) {
  const folder = join(import.meta.dirname, '../node_modules', name)
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
  return `${name} ${version} (${license})\n\n${text}\n`
}
