import { beforeAll, describe, expect, test } from 'vitest'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validateCode } from 'fhir-ops/validate-code'
import { versionsByUrl } from 'fhir-ops/internal/terminology'
import { pickSnomedVersion, SNOMED } from './sctid.js'
import { ID, importSynthetic } from './synthetic.fixture.js'
import { snomed } from './snomed.js'

const EDITION = `${SNOMED}/900000000000207008`
const OLD = `${EDITION}/version/20230101`
const NEW = `${EDITION}/version/20240101`
const OTHER = `${SNOMED}/45991000052106`
const OTHERS = `${OTHER}/version/20250101`

test('of several versions the one asked for is used, the newest of an edition, else the newest international one', () => {
  const versions = [OLD, NEW, OTHERS]
  expect(pickSnomedVersion(versions, undefined)).toBe(NEW)
  expect(pickSnomedVersion(versions, OLD)).toBe(OLD)
  expect(pickSnomedVersion(versions, OTHER)).toBe(OTHERS)
  expect(pickSnomedVersion(versions, `${OTHER}/version/20200101`)).toBeUndefined()
  expect(pickSnomedVersion([OTHERS], undefined)).toBe(OTHERS)
})

describe('an edition stands for any of its versions', () => {
  let ctx: OperationContext

  beforeAll(async () => {
    const concepts = await importSynthetic(OLD)
    for (const version of [NEW, OTHERS]) await importSynthetic(version, { store: concepts })
    ctx = createContext({ storage: memoryStorage(), concepts, codeSystems: [snomed()] })
  })

  const rule = versionsByUrl([`${SNOMED}|${EDITION}`])

  test.each([
    ['of the code', { code: EDITION }, NEW, []],
    ['of the code, where the include names a version', { code: EDITION, include: OLD }, OLD, []],
    ['of the code and the include', { code: EDITION, include: EDITION }, NEW, []],
    ['of the include', { code: OLD, include: EDITION }, OLD, []],
    ['that is forced', { code: OLD, rules: { force: rule } }, OLD, []],
    ['that is checked', { rules: { check: rule } }, NEW, []],
    ['that is checked, not for another', { include: OTHER, rules: { check: rule } }, OTHERS, ['VALUESET_VERSION_CHECK']],
    ['of the code, not for another', { code: OTHER, include: OLD }, OLD, ['VALUESET_VALUE_MISMATCH']],
  ] as const)(
    '%s',
    async (_, given: { code?: string; include?: string; rules?: { force?: typeof rule; check?: typeof rule } }, version, findings) => {
      const include = { system: SNOMED, version: given.include, concept: [{ code: ID.organ }] }
      const coding = { system: SNOMED, ...(given.code !== undefined && { version: given.code }), code: ID.organ }
      const answer = await validateCode(ctx, {
        valueSet: { resourceType: 'ValueSet', status: 'active', compose: { include: [include] } },
        coding,
        rules: given.rules,
      })
      expect([answer.version, answer.issues.map(({ messageId }) => messageId)]).toEqual([version, findings])
    },
  )
})
