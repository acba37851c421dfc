import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createContext, forRequest, type OperationContext } from 'fhir-ops/context'
import { createScheduler } from 'fhir-ops/internal/context'
import { expand } from 'fhir-ops/expand'
import { createRecorder } from 'fhir-ops/internal/explain'
import { PENDING } from 'fhir-ops/fhirpath'
import { memoryStorage } from 'fhir-ops/memory'
import { codeFinder } from '../../../core/src/validate/definitions/code-finder.js'
import { keptAnswers, createQuestions } from '../../../core/src/validate/definitions/answers.js'
import { validateCode } from 'fhir-ops/validate-code'
import { createBindingChecker } from 'fhir-ops/terminology'
import { SCT, SNOMED } from '../sctid.js'
import { ID, importSynthetic } from '../synthetic.fixture.js'
import { snomed } from '../snomed.js'

const times = (count: number, text: string, separator: string): string => Array.from({ length: count }, () => text).join(separator)

const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `w${i}`).join(' ')

/** Expressions of many parts; over the few concepts of the release each part is one step or some. */
const COSTLY: readonly (readonly [string, string])[] = [
  ['alternatives', times(500, '<*', ' OR ')],
  ['ancestors', times(500, '>*', ' AND ')],
  ['what is left', `${times(90, '(* MINUS ', '')}(${times(500, '!!>*', ' OR ')})${times(90, ')', '')}`],
  ['attributes', `* : ${times(300, '*=*', ',')}`],
  ['groups', `* : ${times(300, '[0..1]{*=*}', ',')}`],
  ['reversed attributes', `* : ${times(300, '[0..3] R *=*', ' OR ')}`],
  ['reversed attributes in each other', `${times(95, '(* : R * = ', '')}*${times(95, ')', '')}`],
  ['values of values', `*${times(500, '.*', '')}`],
  ['texts', `*${times(300, '{{term=wild:"*o*"}}', '')}`],
  ['words', `*{{term=(${times(500, '"organ"', ' ')})}}`],
  ['modules', `*{{${times(300, 'moduleId=<<*', ',')}}}`],
  ['members', `^ ${ID.map} ${times(200, '{{M mapPriority>#0}}', '')}`],
  ['status', `*${times(300, '{{C active=1}}', '')}`],
  ['history', `${times(98, '(', '')}*${times(98, '{{+HISTORY-MAX}})', '')}`],
]

const urlOf = (ecl: string): string => `${SNOMED}?fhir_vs=ecl/${encodeURIComponent(ecl)}`
const expanded = (ctx: OperationContext, ecl: string) => expand(ctx, { url: urlOf(ecl) })
const validated = (ctx: OperationContext, ecl: string, code: string) => validateCode(ctx, { url: urlOf(ecl), system: SNOMED, code })

describe('ECL that takes long', () => {
  let ctx: OperationContext
  beforeEach(async () => {
    ctx = createContext({
      storage: memoryStorage(),
      concepts: await importSynthetic(`http://snomed.info/sct/${SCT.core}/version/20240101`),
      codeSystems: [snomed()],
    })
    await expanded(ctx, '*')
    let now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1))
  })
  afterEach(() => void vi.restoreAllMocks())

  it.each(COSTLY)('ends at its time limit: %s', async (_, ecl) => {
    const hurried = forRequest(ctx, { limits: { operationTimeoutMs: 100 } })
    await expect(expanded(hurried, ecl)).rejects.toMatchObject({ code: 'computation-timeout' })
  })

  it.each(COSTLY)('lets other work run in between: %s', async (_, ecl) => {
    let pauses = 0
    const scheduler = { ...createScheduler(), turn: async () => void pauses++ }
    await expanded(forRequest({ ...ctx, scheduler }, { limits: { operationTimeoutMs: 1e9 } }), ecl)
    expect(pauses).toBeGreaterThan(15)
  })

  it.each([
    ['a concept', ID.lobe],
    ['an expression', `${ID.lobe}:${ID.site}=${ID.organ}`],
  ])('ends at its time limit when it is asked about %s', async (_, code) => {
    const hurried = forRequest(ctx, { limits: { operationTimeoutMs: 100 } })
    await expect(validated(hurried, `* : ${times(300, '*=<<*', ',')}`, code)).rejects.toMatchObject({ code: 'computation-timeout' })
  })

  it('ends at its time limit when it is a binding', async () => {
    const hurried = forRequest(ctx, { limits: { operationTimeoutMs: 100 } })
    await expect(createBindingChecker(hurried).test(urlOf(`* : ${times(300, '*=<<*', ',')}`))).rejects.toMatchObject({
      code: 'computation-timeout',
    })
  })

  it('ends at its time limit when a resource is validated with it', async () => {
    const hurried = forRequest(ctx, { limits: { operationTimeoutMs: 100 } })
    const questions = createQuestions(hurried)
    const { valueSet } = codeFinder(hurried, questions, await keptAnswers(hurried))
    expect(valueSet(urlOf(`* : ${times(300, '*=<<*', ',')}`))).toBe(PENDING)
    await expect(questions.settle()).rejects.toMatchObject({ code: 'computation-timeout' })
  })

  it('ends at its time limit when all that decides is explained', async () => {
    const filter = [ID.limb, `* : ${times(300, '*=<<*', ',')}`].map((value) => ({ property: 'constraint', op: '=', value }))
    const question = {
      valueSet: { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: SNOMED, filter }] } },
      system: SNOMED,
      code: ID.lobe,
    }
    const hurried = forRequest(ctx, { limits: { operationTimeoutMs: 100 } })
    await expect(validateCode(hurried, question)).resolves.toMatchObject({ result: false })
    const explained = { ...forRequest(ctx, { limits: { operationTimeoutMs: 100 } }), explain: createRecorder().explain }
    await expect(validateCode(explained, question)).rejects.toMatchObject({ code: 'computation-timeout' })
  })

  it.each([
    ['a word', `*{{term="${times(1_600, 'organ', ' ')}"}}`, '*{{term="organ"}}'],
    ['a language', `*{{language=(${times(3_000, 'en', ' ')})}}`, '*{{language=en}}'],
  ])('looks once at %s that is written often', async (_, ecl, once) => {
    const patient = forRequest(ctx, { limits: { operationTimeoutMs: 1e9 } })
    const codes = async (text: string): Promise<readonly string[]> => (await expanded(patient, text)).contains.map(({ code }) => code)
    expect(await codes(ecl)).toEqual(await codes(once))
  })

  it.each([
    ['alternatives', times(1_001, '*', ' OR ')],
    ['words', `*{{term="${numbered(1_001)}"}}`],
    ['terms', `*{{term=(${times(1_001, '"organ"', ' ')})}}`],
    ['pieces', `*{{term=wild:"${times(1_001, '*', 'o')}"}}`],
    ['filters', `*{{C ${times(1_001, 'active=1', ',')}}}`],
    ['dialects', `*{{dialect=(${times(1_001, 'en-us', ' ')})}}`],
    ['texts of attributes', `*:*=(${times(1_001, '"a"', ' ')})`],
    ['texts of members', `^${ID.map}{{M mapTarget=(${times(1_001, '"a"', ' ')})}}`],
  ])('is refused when it has too many parts: %s', async (_, ecl) => {
    await expect(expanded(forRequest(ctx, { limits: { operationTimeoutMs: 1e9 } }), ecl)).rejects.toMatchObject({
      code: 'definition-invalid',
      message: expect.stringContaining('more than 1000 parts'),
    })
  })
})
