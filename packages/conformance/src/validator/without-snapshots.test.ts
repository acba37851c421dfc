import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { representative } from '../../../../test/effort.js'
import { describeSuite, suitePath } from '../../../../test/suites.js'

const FOLDER = suitePath('validator-tests')

describeSuite('validator-tests', 'profiles without their snapshots', () => {
  test.each([
    ['ips-2.0.0', 'hl7.fhir.uv.ips_2.0.0'],
    ['us-core-3.1.1', 'hl7.fhir.us.core_3.1.1'],
  ])('find the same in the examples of %s, and when something is missing there', async (examples, pack) => {
    const definitions = linesOf(join(FOLDER, 'packages', `${pack}.ndjson`))
    const [complete, short] = [contextWith(definitions), contextWith(definitions.map(withoutSnapshot))]
    const differing: string[] = []
    let compared = 0
    const resources = resourcesIn(join(FOLDER, 'resources/ig', examples)).flatMap(withEachMissing)
    for (const resource of representative(resources, { every: 10 })) {
      const [expected, found] = await Promise.all([errorsIn(complete, resource), errorsIn(short, resource)])
      compared++
      if (expected !== found) differing.push(`${JSON.stringify(resource).slice(0, 100)}: ${found} instead of ${expected}`)
    }
    process.stdout.write(`${examples}: ${compared} resources with and without snapshots\n`)
    expect(differing).toEqual([])
  })
})

function contextWith(definitions: readonly JsonObject[]): OperationContext {
  const { indexer, ...release } = r4()
  return createContext({ ...release, storage: memoryStorage(definitions, { indexer }), limits: { operationTimeoutMs: 120_000 } })
}

function withoutSnapshot(definition: JsonObject): JsonObject {
  return { ...definition, snapshot: undefined }
}

/** A resource, and its copies of which each lacks one member. */
function withEachMissing(resource: JsonObject): readonly JsonObject[] {
  const names = Object.keys(resource).filter((name) => name !== 'resourceType' && name !== 'meta')
  return [resource, ...names.map((name) => ({ ...resource, [name]: undefined }))]
}

/** Places of errors, as one text. */
async function errorsIn(ctx: OperationContext, resource: JsonObject): Promise<string> {
  const { findings } = await validate(ctx, { resource: JSON.stringify(resource) })
  const errors = findings.filter(({ severity }) => severity === 'error').map(({ code, expression }) => `${code} ${expression}`)
  return [...new Set(errors)].toSorted((a, b) => (a < b ? -1 : 1)).join(', ')
}

function resourcesIn(folder: string): readonly JsonObject[] {
  return readdirSync(folder).flatMap((name) => linesOf(join(folder, name)))
}

/** The resources of a file, of which each is a line, or of which the whole is one. */
function linesOf(file: string): readonly JsonObject[] {
  const text = readFileSync(file, 'utf8')
  const texts = file.endsWith('.ndjson') ? text.split('\n').filter((line) => line !== '') : [text]
  return texts.map((one): unknown => JSON.parse(one)).filter(isObject)
}
