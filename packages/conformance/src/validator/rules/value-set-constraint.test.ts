import { expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { snomed } from '@fhir-ops/snomed'

const ctx = createContext({ storage: memoryStorage(), ...r4(), codeSystems: [snomed()] })

async function saidOf(
  filter: { readonly property: string; readonly op: string; readonly value: string },
  { part = 'include', version }: { readonly part?: string; readonly version?: string } = {},
): Promise<string[]> {
  const system = 'http://snomed.info/sct'
  const compose = { include: [{ system }], [part]: [{ system, version, filter: [filter] }] }
  const { findings } = await validate(ctx, { resource: { resourceType: 'ValueSet', url: 'http://a.org/v', status: 'active', compose } })
  return findings
    .filter(({ kind }) => kind === 'value-set-filter')
    .map((one) => `${one.severity}|${one.code} ${one.expression} ${one.text}`)
}

const constraint = (value: string): { property: string; op: string; value: string } => ({ property: 'constraint', op: '=', value })

test.each([
  '<< 73211009 |x',
  '<<',
  '73211009 AND',
  '< foo',
  '<< 12345',
  '<< 73211009: 363698007 =',
  '< 73211009 OR < 22298006 AND < 404684003',
])('%s is not a constraint of SNOMED CT: VALUESET_BAD_FILTER_VALUE_INVALID', async (value) => {
  const [said, ...others] = await saidOf(constraint(value))
  expect(said).toMatch(
    /^error\|invalid ValueSet\.compose\.include\[0\]\.filter\[0\] The value .* for the filter constraint is invalid: .*at character \d+/s,
  )
  expect(others).toEqual([])
})

test('where and why a constraint is wrong, also of what is excluded', async () => {
  expect(await saidOf(constraint('<< 73211009 |x'), { part: 'exclude' })).toEqual([
    "error|invalid ValueSet.compose.exclude[0].filter[0] The value '<< 73211009 |x' for the filter constraint is invalid: '|' was expected, but the expression ends (at character 15).",
  ])
})

test('a constraint for an edition that is not known may be of another form', async () => {
  const version = 'http://snomed.info/sct/731000124108'
  expect(await saidOf(constraint('234234 << 234234'), { version })).toEqual([
    expect.stringMatching(/^warning\|invalid ValueSet\.compose\.include\[0\]\.filter\[0\] The value .* may be invalid .*731000124108/),
  ])
  expect(await saidOf(constraint('<< 73211009'), { version })).toEqual([])
})

test('a constraint of any length is looked at', async () => {
  expect(await saidOf(constraint('('.repeat(20_000)))).toEqual([expect.stringContaining('The expression is longer than 10000 characters')])
})

test.each(['<< 73211009', '<< 73211009 |Diabetes mellitus|', '^ 700043003', '* {{ term = "x" }}', '<< 73211009 : 363698007 = *'])(
  '%s is a constraint, which no release is needed to see',
  async (value) => expect(await saidOf(constraint(value))).toEqual([]),
)

test('other filters are not read as constraints', async () => {
  expect(await saidOf({ property: 'concept', op: 'is-a', value: '73211009' })).toEqual([])
})
