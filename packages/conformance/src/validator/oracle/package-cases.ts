import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { r4Definitions, r4TypeModel } from '@fhir-ops/r4'
import { suitePath } from '../../../../../test/suites.js'
import { edited } from '../mutation/edit.js'
import { INSTANCE_DAMAGES } from '../mutation/instance-damages.js'
import { sitesOf } from '../mutation/site.js'
import type { Origin, Run } from './case.js'
import type { Planned } from './cases.js'

const SUITE = 'validator-tests'
/** The packages whose profiles the examples claim, which both validators know. */
const PACKAGES = ['hl7.fhir.us.core_4.0.0', 'hl7.fhir.uv.ips_2.0.0', 'hl7.fhir.uv.sdc_4.0.0-ballot']
const EDITS_PER_DAMAGE = 2
const SEED = 27

const specification = { model: r4TypeModel(), definitions: r4Definitions() }

/** The definitions of the packages. */
export function packageDefinitions(): readonly JsonObject[] {
  return PACKAGES.flatMap((name) => readFileSync(suitePath(SUITE, 'packages', `${name}.ndjson`), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map(resourceIn)
}

/** The examples of the packages, each with its damages. */
export function packageOrigins(): readonly Planned[] {
  const folder = suitePath(SUITE, 'resources', 'ig')
  return readdirSync(folder).flatMap((examples) =>
    readdirSync(join(folder, examples)).map((file) => ({
      name: `${examples}/${file}`,
      make: () => damagedInstance(`${examples}/${file}`, resourceIn(readFileSync(join(folder, examples, file), 'utf8'))),
    })),
  )
}

/** A resource, and the changes by each damage at places that the seed selects. */
async function damagedInstance(name: string, resource: JsonObject): Promise<Origin> {
  const sites = await sitesOf(specification, resource)
  const runs = [...INSTANCE_DAMAGES].flatMap(([change, damage]): readonly Run[] => {
    const edits = sites.flatMap((site) => damage(site)).map((edit, index) => ({ edit, rank: rankOf(`${SEED} ${name} ${change} ${index}`) }))
    const chosen = edits.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, EDITS_PER_DAMAGE)
    return chosen.map(({ edit }, number) => ({ change, number, asked: { text: edited(resource, edit) } }))
  })
  return { name, base: { text: JSON.stringify(resource) }, runs }
}

function rankOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function resourceIn(text: string): JsonObject {
  const resource: unknown = JSON.parse(text)
  if (!isObject(resource)) throw new TypeError('An example is not a resource.')
  return resource
}
