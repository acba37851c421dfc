import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { expand } from 'fhir-ops/expand'
import { flagAt, nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import type { CodeTest } from '../compile/compiler.js'
import type { Vocabulary } from '../values/value.js'

/** The value sets and code systems that compiled libraries name, which are read before anything is evaluated. */
export interface Terminology {
  /** The test of a value set; it may be called once `load` is done. @throws {OperationError} `not-supported` for a code system. */
  membership(vocabulary: Vocabulary): CodeTest
  /**
   * Reads the codes of all value sets that were asked for.
   *
   * @throws {OperationError} `definition-not-found` naming every value set that is missing; `too-costly` for one that is too large.
   */
  load(): Promise<void>
}

interface Codes {
  readonly keys: ReadonlySet<string>
  readonly bare: ReadonlySet<string>
}

/** Reads value sets through the terminology engines of a context. */
export function createTerminology(ctx: OperationContext): Terminology {
  const asked = new Map<string, Vocabulary>()
  const loaded = new Map<string, Codes>()
  return {
    membership: (vocabulary) => {
      if (vocabulary.kind === 'codeSystem')
        throw new OperationError(
          'not-supported',
          `Membership in a code system (${quoted(vocabulary.id)}) is not supported; a value set of all its codes is.`,
        )
      const key = canonicalOf(vocabulary)
      asked.set(key, vocabulary)
      return (system, code) => {
        const codes = loaded.get(key)
        if (codes === undefined) return false
        return system === undefined ? codes.bare.has(code) : codes.keys.has(`${system}|${code}`)
      }
    },
    load: async () => {
      const missing: string[] = []
      for (const [key, vocabulary] of asked) {
        if (loaded.has(key)) continue
        const codes = await codesOf(ctx, vocabulary)
        if (codes === undefined) missing.push(key)
        else loaded.set(key, codes)
      }
      if (missing.length > 0)
        throw new OperationError('definition-not-found', `These value sets do not exist: ${missing.slice(0, 20).map(quoted).join(', ')}.`)
    },
  }
}

async function codesOf(ctx: OperationContext, vocabulary: Vocabulary): Promise<Codes | undefined> {
  ctx.authorize?.('read', 'ValueSet')
  const found = await ctx.content.resolve('ValueSet', vocabulary.id, vocabulary.version ?? undefined)
  if (found === undefined) return undefined
  const codings = storedExpansion(found.resource) ?? listedConcepts(found.resource) ?? (await expanded(ctx, vocabulary))
  return {
    keys: new Set(codings.map(({ system, code }) => `${system}|${code}`)),
    bare: new Set(codings.map(({ code }) => code)),
  }
}

interface ListedCode {
  readonly system: string
  readonly code: string
}

/** The codes of an expansion that was published with the value set, as measures pin it; `undefined` when there is none, or a page of one. */
function storedExpansion(valueSet: ElmNode): readonly ListedCode[] | undefined {
  const expansion = nodeAt(valueSet, 'expansion')
  if (expansion === undefined) return undefined
  const codes = codesIn(nodesAt(expansion, 'contains'))
  const total = expansion['total']
  return typeof total === 'number' && total > codes.length ? undefined : codes
}

function codesIn(contains: readonly ElmNode[]): readonly ListedCode[] {
  return contains.flatMap((entry) => {
    const [system, code] = [textAt(entry, 'system'), textAt(entry, 'code')]
    const own = system === undefined || code === undefined || flagAt(entry, 'abstract') === true ? [] : [{ system, code }]
    return [...own, ...codesIn(nodesAt(entry, 'contains'))]
  })
}

/** The codes of a value set that only lists codes: they are known without the code system. */
function listedConcepts(valueSet: ElmNode): readonly ListedCode[] | undefined {
  const compose = nodeAt(valueSet, 'compose') ?? {}
  const includes = nodesAt(compose, 'include')
  const isList = includes.every(
    (include) => nodesAt(include, 'concept').length > 0 && nodesAt(include, 'filter').length === 0 && !('valueSet' in include),
  )
  if (includes.length === 0 || !isList || nodesAt(compose, 'exclude').length > 0) return undefined
  return includes.flatMap((include) =>
    nodesAt(include, 'concept').map((concept) => ({ system: textAt(include, 'system') ?? '', code: textAt(concept, 'code') ?? '' })),
  )
}

async function expanded(ctx: OperationContext, vocabulary: Vocabulary): Promise<readonly ListedCode[]> {
  const { contains } = await expand(ctx, { url: canonicalOf(vocabulary), excludeNotForUI: true, excludeNested: true })
  return contains
}

function canonicalOf({ id, version }: Vocabulary): string {
  return version === null ? id : `${id}|${version}`
}
