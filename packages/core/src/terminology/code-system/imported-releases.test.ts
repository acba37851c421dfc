import { describe, expect, it } from 'vitest'
import { createContext, type OperationContext } from '../../context/index.js'
import { expand } from '../../expand/index.js'
import { lookup } from '../../lookup/index.js'
import { memoryConceptStore, memoryStorage } from '../../memory/index.js'
import { translate } from '../../translate/index.js'

const SNOMED = 'http://snomed.info/sct'
const OTHER = 'http://example.org/list'

/** A context in which releases are imported that no code system of it opens. */
async function contextWithout(url: string): Promise<OperationContext> {
  const concepts = memoryConceptStore()
  const staged = await concepts.stage({ url, version: '1', format: 'layout-1', concepts: 1, header: '{}' })
  await staged.publish()
  return createContext({ storage: memoryStorage(), concepts })
}

describe('an imported code system that the context cannot open', () => {
  it('is refused with the package that opens it', async () => {
    const ctx = await contextWithout(SNOMED)
    const asked = lookup(ctx, { system: SNOMED, code: '138875005' })
    await expect(asked).rejects.toMatchObject({ code: 'not-supported', message: expect.stringContaining('snomed() of @fhir-ops/snomed') })
  })

  it('is refused with its format where no package of this project opens it', async () => {
    const ctx = await contextWithout(OTHER)
    const asked = lookup(ctx, { system: OTHER, code: 'a' })
    await expect(asked).rejects.toMatchObject({ code: 'not-supported', message: expect.stringContaining("'layout-1'") })
  })

  it('is refused where only a canonical of its own names it', async () => {
    const ctx = await contextWithout(SNOMED)
    await expect(expand(ctx, { url: `${SNOMED}?fhir_vs=isa/138875005` })).rejects.toMatchObject({ code: 'not-supported' })
    const map = translate(ctx, { url: `${SNOMED}?fhir_cm=900000000000526001`, coding: { system: SNOMED, code: '138875005' } })
    await expect(map).rejects.toMatchObject({ code: 'not-supported' })
  })

  it('is refused where the format is not the one that its package reads', async () => {
    const ctx = await contextWithout(OTHER)
    const codeSystems = [{ url: OTHER, name: 'List', format: 'layout-2', bytesPerConcept: 1, open: () => never(), pickVersion: () => '1' }]
    const asked = lookup({ ...ctx, codeSystems }, { system: OTHER, code: 'a' })
    await expect(asked).rejects.toMatchObject({ code: 'not-supported', message: expect.stringContaining("'layout-2', not 'layout-1'") })
  })
})

function never(): never {
  throw new Error('opened')
}
