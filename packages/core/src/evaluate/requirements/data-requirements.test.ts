import { describe, expect, test } from 'vitest'
import { OperationError } from '../../errors/index.js'
import type { JsonObject } from '../../json/index.js'
import type { OperationRequest } from '../../operation/index.js'
import { parametersFromQuery } from '../../parameters/index.js'
import { dataRequirements, toLibrary, type CriteriaLanguage } from '../index.js'
import { basis, measure, population, scoring, wardContext } from '../ward.fixture.js'
import { measureOperations } from '../measure-operations.js'

const PERIOD = { periodStart: '2021', periodEnd: '2021' }

async function required(expressions: readonly string[], over: object = {}): Promise<readonly unknown[]> {
  const resource = measure([{ population: expressions.map((expression, index) => population(`p${index}`, expression)) }], over)
  return (await dataRequirements(wardContext([resource]), { measure: 'm', ...PERIOD })).data
}

describe('what queries look at', () => {
  test.each<readonly [string, readonly unknown[]]>([
    ['Patient', [{ type: 'Patient' }]],
    ['Patient?gender=female', [{ type: 'Patient', codeFilter: [{ searchParam: 'gender', code: [{ code: 'female' }] }] }]],
    [
      'Observation?code=http://example.org/codes|weight,height,http://example.org/codes|',
      [
        {
          type: 'Observation',
          codeFilter: [
            {
              searchParam: 'code',
              code: [{ system: 'http://example.org/codes', code: 'weight' }, { code: 'height' }, { system: 'http://example.org/codes' }],
            },
          ],
        },
      ],
    ],
    ['Observation?code:not=weight', [{ type: 'Observation' }]],
    [
      'Observation?date=ge{{%periodStart}}&date=lt2021-07&date=le2021-06-30&_count=3',
      [{ type: 'Observation', dateFilter: [{ searchParam: 'date', valuePeriod: { start: '2021', end: '2021-06-30' } }] }],
    ],
    [
      'Observation?date=2021-03',
      [{ type: 'Observation', dateFilter: [{ searchParam: 'date', valuePeriod: { start: '2021-03', end: '2021-03' } }] }],
    ],
    ['Observation?date=ne2021', [{ type: 'Observation' }]],
    ['Observation?date=2020,2021', [{ type: 'Observation' }]],
    ['Patient?_has:Observation:subject:code=weight', [{ type: 'Patient' }, { type: 'Observation' }]],
    ['Observation?subject:Patient.gender=female', [{ type: 'Observation' }, { type: 'Patient' }]],
    ['Observation?subject=Patient/{{%patient.id}}', [{ type: 'Observation' }]],
  ])('%s', async (expression, data) => {
    expect(await required([expression])).toEqual(data)
  })

  test('subjects are looked at where they are counted; what is asked for twice is told once', async () => {
    expect(await required(['Observation', 'Observation', 'Patient'], basis('boolean'))).toEqual([
      { type: 'Observation' },
      { type: 'Patient' },
    ])
  })

  test('components of a composite measure', async () => {
    const component = (id: string, expression: string): JsonObject => {
      const populations = ['initial-population', 'denominator', 'numerator'].map((kind) => population(kind, expression))
      return { ...measure([{ population: populations }], scoring('proportion')), id, url: `http://example.org/${id}`, version: '2' }
    }
    const relatedArtifact = ['a', 'b'].map((id) => ({ type: 'composed-of', resource: `http://example.org/${id}` }))
    const composite = measure(undefined, { compositeScoring: { coding: [{ code: 'opportunity' }] }, relatedArtifact })
    const ctx = wardContext([composite, component('a', 'Observation'), component('b', 'Organization')])
    const library = toLibrary(await dataRequirements(ctx, { measure: 'm', ...PERIOD }))
    expect(library).toMatchObject({
      type: { coding: [{ code: 'module-definition' }] },
      relatedArtifact: [
        { type: 'depends-on', resource: 'http://example.org/a|2' },
        { type: 'depends-on', resource: 'http://example.org/b|2' },
      ],
    })
    expect(library.dataRequirement?.map(({ type }) => type)).toEqual(['Observation', 'Patient', 'Organization'])
  })

  test('no data is read, and no right to data is needed', async () => {
    const resource = measure([{ population: [population('p', 'Observation?code=weight')] }])
    const ctx = wardContext([resource])
    const refuse = (): never => {
      throw new OperationError('forbidden', 'no')
    }
    const storage = { ...ctx.storage, search: refuse, count: refuse }
    const authorize = (action: string, type: string): void => {
      if (action !== 'read' || type !== 'Measure') refuse()
    }
    expect((await dataRequirements({ ...ctx, storage, authorize }, { measure: 'm', ...PERIOD })).data).toHaveLength(1)
  })
})

describe('what is refused', () => {
  const ctx = wardContext([measure([{ population: [population('p', 'Observation?nothing=1')] }])])
  const silent: CriteriaLanguage = { names: ['text/silent'], evaluate: () => Promise.reject(new Error('not asked')) }
  const mute = measure([{ population: [{ criteria: { language: 'text/silent', expression: 'x' } }] }])

  test.each<readonly [string, object, string]>([
    ['neither Measure nor Library', {}, 'parameter-required'],
    ['both', { measure: 'm', library: {}, ...PERIOD }, 'parameter-required'],
    ['no period', { measure: 'm', periodStart: '2021' }, 'parameter-required'],
    ['no date', { measure: 'm', periodStart: '2021-02-30', periodEnd: '2022' }, 'parameter-value'],
    ['an unknown Measure', { measure: 'none', ...PERIOD }, 'not-found'],
    ['a criterion that is not a search', { measure: 'm', ...PERIOD }, 'definition-invalid'],
    ['definitions of a Measure', { measure: 'm', definitions: ['A'], ...PERIOD }, 'parameter-invalid'],
    ['a Library without a language for it', { library: { resourceType: 'Library' } }, 'not-supported'],
  ])('%s', async (_, input, code) => {
    await expect(dataRequirements(ctx, input)).rejects.toMatchObject({ code })
  })

  test('a language that cannot tell', async () => {
    const call = dataRequirements(wardContext([mute]), { measure: 'm', ...PERIOD }, { languages: [silent] })
    await expect(call).rejects.toMatchObject({ code: 'not-supported', message: expect.stringContaining('text/silent') })
  })
})

describe('the operations', () => {
  const stored = measure([{ population: [population('p', 'Patient')] }])
  const library = { resourceType: 'Library', id: 'l', url: 'http://example.org/l' }
  const languages: readonly CriteriaLanguage[] = [
    {
      names: ['text/told'],
      evaluate: () => Promise.reject(new Error('not asked')),
      libraryRequirements: async (_, { id }, { definitions = ['all'] }) => ({
        data: [],
        parameters: [],
        dependsOn: [String(id), ...definitions],
      }),
    },
  ]
  const call = async (
    type: string,
    pairs: readonly (readonly [string, string])[],
    over: Partial<OperationRequest> = {},
  ): Promise<JsonObject> => {
    const operation = measureOperations({ languages }).find(({ name, types }) => name === '$data-requirements' && types.includes(type))
    const request = { type, method: 'GET', parameters: parametersFromQuery(pairs), strict: false, ...over } as const
    const answer = await operation?.run(wardContext([stored, library]), request)
    return answer?.resource ?? {}
  }
  const period = Object.entries(PERIOD)

  test('of a Measure by id, by canonical', async () => {
    const answer = { resourceType: 'Library', dataRequirement: [{ type: 'Patient' }] }
    expect(await call('Measure', period, { id: 'm' })).toMatchObject(answer)
    expect(await call('Measure', [...period, ['measure', 'http://example.org/Measure/m']])).toMatchObject(answer)
    await expect(call('Measure', [...period, ['what', 'x']], { id: 'm' })).rejects.toMatchObject({ code: 'parameter-invalid' })
    await expect(call('Measure', [], { id: 'm' })).rejects.toMatchObject({ code: 'parameter-required', expression: ['periodStart'] })
  })

  test('of a Library by id, by canonical, and of some definitions', async () => {
    const told = (...names: readonly string[]): object => ({ relatedArtifact: names.map((resource) => ({ type: 'depends-on', resource })) })
    expect(await call('Library', [], { id: 'l' })).toMatchObject(told('l', 'all'))
    expect(
      await call('Library', [
        ['url', 'http://example.org/l'],
        ['expression', 'A'],
      ]),
    ).toMatchObject(told('l', 'A'))
    await expect(call('Library', [])).rejects.toMatchObject({ code: 'parameter-required' })
    await expect(call('Library', [['url', 'http://example.org/l']], { id: 'l' })).rejects.toMatchObject({ code: 'parameter-invalid' })
    await expect(call('Library', [['url', 'http://example.org/x']])).rejects.toMatchObject({ code: 'not-found' })
    await expect(call('Library', [], { id: 'x' })).rejects.toMatchObject({ code: 'not-found' })
    await expect(call('Library', [['target', 'x']], { id: 'l' })).rejects.toMatchObject({ code: 'parameter-unsupported' })
  })
})
