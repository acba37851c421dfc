import { expect, test } from 'vitest'
import { createContext, type OperationContext } from '../context/index.js'
import { memoryStorage } from '../memory/index.js'
import { terminologyScope } from './scope.js'

const SYSTEM = 'http://example.org/colours'
const SUPPLEMENT = 'http://example.org/colours-in-german'

interface Counted {
  readonly ctx: OperationContext
  /** The canonicals that were searched for, in order. */
  readonly searched: string[]
}

function counted(): Counted {
  const supplement = {
    resourceType: 'CodeSystem',
    id: 'german',
    url: SUPPLEMENT,
    status: 'active',
    content: 'supplement',
    supplements: SYSTEM,
  }
  const base = createContext({ storage: memoryStorage([supplement]) })
  const searched: string[] = []
  const find: OperationContext['content']['find'] = (type, name, value) => {
    searched.push(value)
    return base.content.find(type, name, value)
  }
  return { ctx: { ...base, content: { ...base.content, find } }, searched }
}

test('a supplement that is named many times is looked up once', async () => {
  const { ctx, searched } = counted()
  await terminologyScope(ctx, { supplements: Array.from({ length: 1_000 }, () => SUPPLEMENT) })
  expect(searched).toEqual([SUPPLEMENT])
})

test('the first supplement that does not exist ends the search for supplements', async () => {
  const { ctx, searched } = counted()
  const missing = Array.from({ length: 1_000 }, (_, i) => `${SUPPLEMENT}-${i}`)
  await expect(terminologyScope(ctx, { supplements: [SUPPLEMENT, ...missing] })).rejects.toMatchObject({ code: 'content-not-found' })
  expect(searched).toEqual([SUPPLEMENT, missing[0]])
})

test('more than 100 supplements are refused, and many versions of one are one', async () => {
  const named = (names: readonly string[], version: (n: number) => string): OperationContext => {
    const resources = names.map((url, n) => ({
      resourceType: 'CodeSystem',
      id: `s${n}`,
      url,
      version: version(n),
      status: 'active',
      content: 'supplement',
      supplements: SYSTEM,
    }))
    return createContext({ storage: memoryStorage(resources) })
  }
  const names = Array.from({ length: 101 }, (_, n) => `${SUPPLEMENT}-${n}`)
  const distinct = named(names, () => '1')
  await expect(terminologyScope(distinct, { supplements: names.slice(1) })).resolves.toBeDefined()
  await expect(terminologyScope(distinct, { supplements: names, asked: names })).rejects.toMatchObject({
    code: 'too-costly',
    expression: ['useSupplement[100]'],
  })
  const versions = named(
    names.map(() => SUPPLEMENT),
    (n) => `${n}.0`,
  )
  await expect(terminologyScope(versions, { supplements: [SUPPLEMENT] })).resolves.toBeDefined()
})
