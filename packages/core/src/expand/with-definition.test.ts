import { expect, it } from 'vitest'
import { contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import type { JsonObject } from '../json/index.js'
import type { OperationRequest } from '../operation/index.js'
import { parametersFromQuery } from '../parameters/index.js'
import { expand, toValueSet } from './index.js'
import { expandOperation } from '../operations/index.js'

const contained = [{ resourceType: 'ValueSet', id: 'in', status: 'active', compose: { include: [{ system: cs('living') }] } }]
const compose = { include: [{ valueSet: ['#in'] }], exclude: [{ system: cs('living'), concept: [{ code: 'cat' }] }] }
const ctx = contextOf(LIVING, valueSet('held', compose, { contained }))

/** The ValueSet as `run`, `write` and `stream` of the operation answer it. */
async function answers(query: string): Promise<readonly JsonObject[]> {
  const parameters = parametersFromQuery(new URLSearchParams(query))
  const request: OperationRequest = { type: 'ValueSet', method: 'GET', parameters, strict: false }
  const { resource } = await expandOperation.run(ctx, request)
  const written = await expandOperation.write?.(ctx, request)
  const found: JsonObject[] = [resource, JSON.parse([...(written?.text ?? [])].join(''))]
  for await (const line of (await expandOperation.stream?.(ctx, request)) ?? []) if (found.length < 3) found.push(line)
  return found
}

it.each([
  ['', undefined],
  ['&includeDefinition=false', undefined],
  ['&includeDefinition=true', { compose, contained }],
])('an expansion with "%s" repeats %j of the definition', async (query, expected) => {
  for (const answer of await answers(`url=${vs('held')}${query}`)) {
    expect(answer).toMatchObject({ resourceType: 'ValueSet', ...expected })
    if (expected === undefined) for (const member of ['compose', 'contained']) expect(answer).not.toHaveProperty(member)
  }
})

it('a value set without compose has no definition to repeat', async () => {
  const contains = [{ system: cs('living'), code: 'dog' }]
  const stored = { resourceType: 'ValueSet', status: 'active', expansion: { contains } }
  const written = toValueSet(await expand(ctx, { valueSet: stored, includeDefinition: true }))
  expect(written).not.toHaveProperty('compose')
  expect(written.expansion?.contains).toMatchObject(contains)
})

it('excludePostCoordinated is reported', async () => {
  const { parameters } = await expand(ctx, { url: vs('held'), excludePostCoordinated: true })
  expect(parameters).toContainEqual({ name: 'excludePostCoordinated', type: 'Boolean', value: true })
})
