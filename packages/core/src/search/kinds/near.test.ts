import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds } from '../../../../../test/effort.js'
import { memoryStorage } from '../../memory/index.js'
import { publishedSearchParameters, publishedTypes } from '../../../test/r4-definitions.js'
import { createIndexer, parseSearch, searchParameters } from '../index.js'

const EARTH_KM = 6_371.008_8
const parameters = searchParameters(publishedSearchParameters(), publishedTypes())
const indexer = createIndexer(parameters)

/** The great-circle distance by the haversine formula. */
function distanceKm(a: Place, b: Place): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180
  const half = (x: number, y: number): number => Math.sin(radians(y - x) / 2) ** 2
  const across = Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * half(a.longitude, b.longitude)
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(half(a.latitude, b.latitude) + across)))
}

interface Place {
  readonly latitude: number
  readonly longitude: number
}

async function near(value: string): Promise<Parameters<ReturnType<typeof memoryStorage>['count']>[0]> {
  return (await parseSearch('Location', [['near', value]], { parameters })).query
}

describe('near', () => {
  it('finds what is within the distance, and nothing that is much further away, all over the earth', async () => {
    const place = fc.record({ latitude: fc.integer({ min: -9_000, max: 9_000 }), longitude: fc.integer({ min: -18_000, max: 18_000 }) })
    const degrees = ({ latitude, longitude }: Place): Place => ({ latitude: latitude / 100, longitude: longitude / 100 })
    await fc.assert(
      fc.asyncProperty(
        place.map(degrees),
        fc.integer({ min: 1, max: 10_000 }),
        fc.array(place.map(degrees), { minLength: 20 }),
        async (centre, km, places) => {
          const resources = places.map((position, index) => ({ resourceType: 'Location', id: String(index), position }))
          const storage = memoryStorage(resources, { indexer })
          const query = await near(`${centre.latitude}|${centre.longitude}|${km}|km`)
          const found = new Set((await storage.search({ ...query, limit: 1_000 })).items.map(({ id }) => Number(id)))
          for (const [index, position] of places.entries()) {
            const distance = distanceKm(centre, position)
            if (distance <= km * 0.999_999) expect(found, `${distance} of ${km} km`).toContain(index)
            if (distance > km * (17 / 16)) expect(found, `${distance} of ${km} km`).not.toContain(index)
          }
        },
      ),
      { numRuns: rounds({ quick: 60, all: 300 }) },
    )
  })

  it('finds what is on the other side of a pole', async () => {
    const storage = memoryStorage([{ resourceType: 'Location', id: 'a', position: { latitude: 89.9, longitude: 0.1 } }], { indexer })
    expect(await storage.count(await near('89.9|-179.9|50|km'))).toBe(1)
  })

  it.each([
    ['1|2|10|km', '1|2|10000|m'],
    ['1|2|10', '1|2|10|km'],
    ['1|2|10|[mi_i]', '1|2|16.09344|km'],
  ])('takes %s as %s', async (one, other) => {
    expect((await near(one)).where).toEqual((await near(other)).where)
  })

  it.each([
    '1|2',
    '1',
    'a|b|c',
    '91|0|1',
    '0|181|1',
    '0|0|-1',
    '0|0|20000',
    '0|0|10001',
    '0|0|10000001|m',
    '0|0|1|furlong',
    '0|0|1|km|x',
    '1e1|0|1',
    '',
  ])('refuses %j', async (value) => {
    await expect(near(value)).rejects.toMatchObject({ code: 'search-invalid' })
  })

  it('is not an order', async () => {
    const sorted = parseSearch('Location', [['_sort', 'near']], { parameters })
    await expect(sorted).rejects.toMatchObject({ code: 'search-unsupported' })
  })
})
