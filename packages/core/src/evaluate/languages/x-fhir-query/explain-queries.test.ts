import { r4 } from '@fhir-ops/r4'
import { describe, expect, it } from 'vitest'
import { createContext } from '../../../context/index.js'
import { memoryStorage } from '../../../memory/index.js'
import { evaluateMeasure } from '../../evaluate-measure.js'

const { indexer, ...release } = r4()
const population = (kind: string, expression: string): object => ({
  code: { coding: [{ code: kind }] },
  criteria: { language: 'application/x-fhir-query', expression },
})
const MEASURE = {
  resourceType: 'Measure',
  id: 'm',
  status: 'active',
  scoring: { coding: [{ code: 'proportion' }] },
  extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: 'boolean' }],
  group: [
    {
      population: [
        population('initial-population', 'Patient'),
        population('denominator', 'Condition?code=http://x|d'),
        population('denominator-exclusion', 'Procedure?status=completed'),
        population('numerator', 'Observation?code=http://x|o&status=final&date=ge{{%periodStart}}&date=le{{%periodEnd}}'),
      ],
    },
  ],
}
const coded = (resourceType: string, id: string, code: string, more: object = {}): { resourceType: string; id: string } => {
  const resource = { resourceType, id, code: { coding: [{ system: 'http://x', code }] }, subject: { reference: 'Patient/p' }, ...more }
  return resource
}

async function reasons(...resources: readonly { resourceType: string; id: string }[]): Promise<readonly unknown[]> {
  const patient = { resourceType: 'Patient', id: 'p' }
  const ctx = createContext({ ...release, storage: memoryStorage([MEASURE, patient, ...resources], { indexer }) })
  const input = { measure: 'm', periodStart: '2024', periodEnd: '2024', subject: 'p' }
  const { groups } = await evaluateMeasure(ctx, input)
  const explained = await evaluateMeasure(ctx, { ...input, explain: true })
  expect(explained.groups).toEqual(groups)
  return explained.explanation?.criteria?.map(({ reason }) => reason) ?? []
}

describe('queries are explained for one subject', () => {
  const diabetic = coded('Condition', 'c', 'd')
  const numerator = '`Observation?code=http://x|o&status=final&date=ge{{%periodStart}}&date=le{{%periodEnd}}`'

  it.each<[string, readonly { resourceType: string; id: string }[], string]>([
    [
      'what is found',
      [diabetic, coded('Observation', 'o', 'o', { status: 'final', effectiveDateTime: '2024-02-01' })],
      `Numerator is true because ${numerator} finds 1 Observation: Observation/o.`,
    ],
    [
      'a date',
      [diabetic, coded('Observation', 'o', 'o', { status: 'final', effectiveDateTime: '2023-02-01' })],
      `Numerator is false because ${numerator} finds nothing; without \`date=ge{{%periodStart}}\` it finds 1 Observation: Observation/o.`,
    ],
    [
      'a status',
      [diabetic, coded('Observation', 'o', 'o', { status: 'draft', effectiveDateTime: '2024-02-01' })],
      `Numerator is false because ${numerator} finds nothing; without \`status=final\` it finds 1 Observation: Observation/o.`,
    ],
    [
      'several at once',
      [diabetic, coded('Observation', 'o', 'x', { status: 'draft' })],
      `Numerator is false because ${numerator} finds nothing; 1 Observation of the subject lack more than one condition.`,
    ],
    ['nothing at all', [diabetic], `Numerator is false because ${numerator} finds nothing; there is no Observation of the subject.`],
    ['the population around', [], 'Numerator does not apply because the subject is not in the denominator.'],
    [
      'the exclusion',
      [diabetic, coded('Procedure', 'h', 'h', { status: 'completed' })],
      'Numerator is false because the subject is in the denominator exclusion.',
    ],
  ])('by %s', async (_, resources, expected) => {
    expect((await reasons(...resources)).at(-1)).toBe(expected)
  })
})

it('supplemental data is refused by name where no language of the Measure evaluates it', async () => {
  const supplementalData = [{ criteria: { language: 'application/x-fhir-query', expression: 'Patient' } }]
  const storage = memoryStorage([{ ...MEASURE, supplementalData }], { indexer })
  await expect(
    evaluateMeasure(createContext({ ...release, storage }), { measure: 'm', periodStart: '2024', periodEnd: '2024' }),
  ).rejects.toMatchObject({
    code: 'not-supported',
    message: "Supplemental data 1 is in 'application/x-fhir-query', which is not supported for supplemental data here.",
  })
})
