import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { codeSystem, contextOf, cs, valueSet, vs } from '../../test/terminology-content.js'
import { expand } from '../expand/index.js'
import type { JsonObject } from '../json/index.js'
import { validateCode } from './index.js'

const VERSIONS = ['1.0.0', '2.0.0', '3.0.0']
const CODES = ['a', 'b', 'c', 'd']
const EXPANSION_PARAMETER = 'http://hl7.org/fhir/StructureDefinition/valueset-expansion-parameter'

const some = fc.subarray(CODES)
const version = fc.constantFrom(...VERSIONS)
/** Of excludes, which may state none. An include without takes a code of any version that is stated with it, and is listed in the newest. */
const versionOrNone = fc.constantFrom(...VERSIONS, undefined)

/** The codes of each version, and those that are inactive there. */
const systems = fc.tuple(...VERSIONS.map((number) => fc.record({ number: fc.constant(number), codes: some, inactive: some })))

const imported = fc.subarray(['inner', 'other'], { minLength: 1 })

/** Of the system in one version: all codes, or those of a list. Or what is in all of some imported value sets. */
function parts(minLength: number, stated: fc.Arbitrary<string | undefined>): fc.Arbitrary<readonly Part[]> {
  const part = fc.oneof(
    fc.record({ version: stated, list: fc.option(some) }),
    fc.record({ imported }),
    fc.record({ version: stated, list: fc.option(some), imported }),
  )
  return fc.array(part, { minLength, maxLength: 3 })
}
const plain = fc.array(fc.record({ version, list: fc.option(some) }), { minLength: 1, maxLength: 3 })
const definition = fc.record({
  systems,
  inner: plain,
  other: plain,
  innerExclude: fc.array(fc.record({ version: versionOrNone, list: fc.option(some) }), { maxLength: 1 }),
  include: parts(1, version),
  exclude: parts(0, versionOrNone),
  keepsVersions: fc.boolean(),
  activeOnly: fc.boolean(),
  asksForActive: fc.boolean(),
})

interface Part {
  readonly version?: string | undefined
  readonly list?: readonly string[] | null
  readonly imported?: readonly string[]
}

function element(part: Part): JsonObject {
  const { version: number, list } = part
  return {
    ...('version' in part && { system: cs('v') }),
    ...(number !== undefined && { version: number }),
    ...(list !== undefined && list !== null && { concept: list.map((code) => ({ code })) }),
    ...(part.imported !== undefined && { valueSet: part.imported.map(vs) }),
  }
}

const keeping = {
  extension: [
    {
      url: EXPANSION_PARAMETER,
      extension: [
        { url: 'name', valueCode: 'versionsMatch' },
        { url: 'value', valueString: 'false' },
      ],
    },
  ],
}

it('a code is in a value set exactly when the expansion lists it', async () => {
  await fc.assert(
    fc.asyncProperty(definition, async (drawn) => {
      const versions = drawn.systems.map(({ number, codes, inactive }) =>
        codeSystem(
          'v',
          codes.map((code) => ({ code, property: [{ code: 'inactive', valueBoolean: inactive.includes(code) }] })),
          { version: number },
        ),
      )
      const ctx = contextOf(
        ...versions,
        valueSet('inner', { include: drawn.inner.map(element), exclude: drawn.innerExclude.map(element) }),
        valueSet('other', { include: drawn.other.map(element) }),
        valueSet('outer', {
          ...(drawn.keepsVersions && keeping),
          include: drawn.include.map(element),
          exclude: drawn.exclude.map(element),
          inactive: !drawn.activeOnly,
        }),
      )
      const isIn = async (code: string, number?: string): Promise<boolean> => {
        const coding = { system: cs('v'), code, ...(number !== undefined && { version: number }) }
        return (await validateCode(ctx, { url: vs('outer'), coding, activeOnly: drawn.asksForActive })).result
      }
      const { contains } = await expand(ctx, { url: vs('outer'), activeOnly: drawn.asksForActive })
      for (const code of CODES) {
        const listed = contains.filter((entry) => entry.code === code)
        expect([code, await isIn(code)]).toEqual([code, listed.length > 0])
        // An expansion states versions only where there are several.
        if (listed.some((entry) => entry.version === undefined)) continue
        for (const number of VERSIONS) {
          expect([code, number, await isIn(code, number)]).toEqual([code, number, listed.some((entry) => entry.version === number)])
        }
      }
    }),
    { numRuns: rounds({ quick: 40, all: 400 }) },
  )
})
