import { describe, expect, test } from 'vitest'
import { createContext, type Suppression } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

const ctx = createContext({ storage: memoryStorage(), ...r4(), now: () => new Date('2026-06-15T12:00:00Z') })
const RESOURCE = '{"resourceType":"Patient","foo":1,"contact":[{"gender":"male","bar":2}]}'
const TOLD = ['unknown-property Patient.foo', 'invariant Patient.contact[0]', 'unknown-property Patient.contact[0].bar']
const accepted = (id: string, rest: Partial<Suppression> = {}): Suppression => ({
  id,
  reason: 'known to the sender',
  until: '2026-06-15',
  ...rest,
})

async function told(suppress: readonly Suppression[]): Promise<readonly string[]> {
  const { findings } = await validate(ctx, { resource: RESOURCE, suppress })
  return findings.map(({ kind, expression }) => (expression === undefined ? kind : `${kind} ${expression}`))
}

describe('a suppression', () => {
  test.each<readonly [title: string, suppression: Suppression, told: readonly string[]]>([
    ['of a kind', accepted('unknown-property'), [TOLD[1] ?? '']],
    ['of a kind in an element', accepted('unknown-property', { at: 'Patient.contact' }), TOLD.slice(0, 2)],
    ['of one constraint', accepted('invariant:pat-1'), [TOLD[0] ?? '', TOLD[2] ?? '']],
    ['of another constraint', accepted('invariant:pat-2'), TOLD],
    ['of what is not said', accepted('narrative'), TOLD],
    ['that has expired', accepted('unknown-property', { at: 'Patient.foo', until: '2026-06-14' }), [...TOLD, 'suppression-expired']],
    ['that has expired and is about nothing', accepted('narrative', { until: '2026-06-14' }), TOLD],
  ])('%s', async (_, suppression, expected) => {
    expect(await told([suppression])).toEqual(expected)
  })

  test('makes a resource valid that has nothing else', async () => {
    const suppress = [accepted('unknown-property'), accepted('invariant:pat-1')]
    expect(await validate(ctx, { resource: RESOURCE, suppress })).toEqual({ valid: true, findings: [] })
  })

  test('of the context holds for every call', async () => {
    const policy = { suppress: [accepted('unknown-property')], level: 'error' } as const
    const { findings } = await validate({ ...ctx, validation: policy }, { resource: RESOURCE })
    expect(findings.map(({ kind }) => kind)).toEqual(['invariant'])
  })

  test.each([
    ['no reason', accepted('narrative', { reason: ' ' })],
    ['no day', accepted('narrative', { until: 'some day' })],
  ])('with %s is refused when the context is made', (_, suppression) => {
    const make = (): unknown => createContext({ storage: memoryStorage(), validation: { suppress: [suppression] } })
    expect(make).toThrow(TypeError)
  })

  test.each([
    ['no kind of finding', accepted('unknown-propert')],
    ['no reason', accepted('narrative', { reason: ' ' })],
    ['no day', accepted('narrative', { until: 'some day' })],
    ['a day that there is not', accepted('narrative', { until: '2026-13-01' })],
  ])('with %s is refused', async (_, suppression) => {
    await expect(told([suppression])).rejects.toMatchObject({ code: 'parameter-value' })
  })
})
