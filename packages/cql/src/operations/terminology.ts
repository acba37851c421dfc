import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { formatCanonical } from 'fhir-ops/internal/content'
import { quoted } from 'fhir-ops/internal/errors'
import { expand } from 'fhir-ops/expand'
import { preparedChoice, terminologyScope, type CodeSystemProvider } from 'fhir-ops/internal/terminology'
import { flagAt, nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import type { LibraryTerminology } from '../compile/compiler.js'
import { createProfiles, type RetrievedProfiles } from '../data/profiles.js'
import type { PinnedVersions } from 'fhir-ops/internal/evaluate'
import { failedEvaluation } from '../problem.js'
import { codesBySystem, type CodesBySystem } from '../compile/coded.js'
import type { Code, Vocabulary } from '../values/value.js'

/** The value sets, code systems and profiles that compiled libraries name. They are loaded before anything is evaluated. */
export interface Terminology extends LibraryTerminology {
  /**
   * Loads everything that was requested while libraries were compiled. The returned tests may be called afterwards.
   *
   * @throws {OperationError} `definition-not-found` naming every value set and code system that is missing; `too-costly` for a value set that
   *   is too large.
   */
  load(): Promise<void>
}

interface Codes {
  readonly bySystem: CodesBySystem
  readonly bare: ReadonlySet<string>
  readonly listed: readonly Code[]
}

interface TerminologyOptions {
  /** The resources that retrieves by profile find. Default `fixed`. */
  readonly profiles?: RetrievedProfiles | undefined
  /** Versions of value sets and code systems whose version is left open. */
  readonly pinned?: PinnedVersions | undefined
}

/** Creates the terminology of an evaluation, which uses the terminology engines of a context. */
export function createTerminology(ctx: OperationContext, { profiles: mode = 'fixed', pinned }: TerminologyOptions = {}): Terminology {
  const pin = (vocabulary: Vocabulary): Vocabulary => ({ ...vocabulary, version: vocabulary.version ?? pinned?.of(vocabulary.id) ?? null })
  const profiles = createProfiles(ctx, mode)
  const valueSets = new Map<string, Vocabulary>()
  const systems = new Map<string, Vocabulary>()
  const perhaps = new Map<string, Vocabulary>()
  const asked = new Set<readonly Vocabulary[]>()
  const codes = new Map<string, Codes>()
  const providers = new Map<string, CodeSystemProvider>()
  return {
    membership: (vocabulary) => {
      const key = canonicalOf(vocabulary)
      if (vocabulary.kind === 'codeSystem') {
        systems.set(key, pin(vocabulary))
        return (system, code) => (system === undefined || system === vocabulary.id) && isCodeOf(providers.get(key), code)
      }
      valueSets.set(key, pin(vocabulary))
      let known: Codes | undefined
      return (system, code) => {
        known ??= codes.get(key)
        return (system === undefined ? known?.bare : known?.bySystem.get(system))?.has(code) === true
      }
    },
    expansion: (vocabulary) => {
      const key = canonicalOf(vocabulary)
      valueSets.set(key, pin(vocabulary))
      return () => codes.get(key)?.listed ?? []
    },
    subsumption: (declared) => {
      if (!asked.has(declared)) for (const vocabulary of declared) perhaps.set(canonicalOf(vocabulary), pin(vocabulary))
      asked.add(declared)
      return (ancestor, descendant) => isSubsumed(declared, providers, { ancestor, descendant })
    },
    profile: (canonical) => profiles.test(canonical),
    load: async () => {
      await profiles.load()
      const missing: string[] = []
      for (const [key, vocabulary] of valueSets) {
        if (codes.has(key)) continue
        const found = await codesOf(ctx, vocabulary, pinned)
        if (found === undefined) missing.push(`value set ${quoted(canonicalOf(vocabulary))}`)
        else codes.set(key, found)
      }
      const opened = await openSystems(ctx, new Map([...perhaps, ...systems]))
      for (const [key, provider] of opened) providers.set(key, provider)
      const unknown = [...systems].filter(([key]) => !opened.has(key))
      missing.push(...unknown.map(([, vocabulary]) => `code system ${quoted(canonicalOf(vocabulary))}`))
      if (missing.length > 0)
        throw new OperationError('definition-not-found', `These definitions do not exist: ${missing.slice(0, 20).join(', ')}.`)
    },
  }
}

async function openSystems(
  ctx: OperationContext,
  vocabularies: ReadonlyMap<string, Vocabulary>,
): Promise<ReadonlyMap<string, CodeSystemProvider>> {
  const opened = new Map<string, CodeSystemProvider>()
  if (vocabularies.size === 0) return opened
  ctx.authorize?.('read', 'CodeSystem')
  const scope = await terminologyScope(ctx)
  for (const [key, { id, version }] of vocabularies) {
    const { provider } = await preparedChoice(await scope.family(id), { include: version ?? undefined, rules: scope.rules })
    if (provider !== undefined) opened.set(key, provider)
  }
  return opened
}

/** Whether a system has a code. @throws {OperationError} `unprocessable` for a code that may be in the part of the system that is not available. */
function isCodeOf(provider: CodeSystemProvider | undefined, code: string): boolean {
  if (provider === undefined) return false
  if (provider.find(code) !== undefined) return true
  if (provider.header.complete) return false
  throw failedEvaluation(
    `Whether ${quoted(code)} is in the code system ${quoted(provider.header.url)} is not known, since only a part of the system is.`,
  )
}

/** Two codes of one system. */
interface CodePair {
  readonly ancestor: Code
  readonly descendant: Code
}

/** @throws {OperationError} `unprocessable` for unknown codes, and for codes of a system that is unknown or that the library does not declare. */
function isSubsumed(
  declared: readonly Vocabulary[],
  providers: ReadonlyMap<string, CodeSystemProvider>,
  { ancestor, descendant }: CodePair,
): boolean {
  if (ancestor.system !== descendant.system) return false
  const vocabulary = declared.find(({ id }) => id === ancestor.system)
  const provider = vocabulary === undefined ? undefined : providers.get(canonicalOf(vocabulary))
  if (provider === undefined)
    throw failedEvaluation(
      `Subsumption needs the code system ${quoted(ancestor.system ?? '')}, which ${vocabulary === undefined ? 'the library does not declare' : 'does not exist'}.`,
    )
  const [above, below] = [ancestor, descendant].map(({ code }) => {
    const concept = provider.find(code ?? '')
    if (concept !== undefined) return concept
    throw failedEvaluation(`The code system ${quoted(provider.header.url)} has no code ${quoted(code ?? '')}.`)
  })
  return above !== undefined && below !== undefined && provider.hierarchy.isWithin(below, above)
}

async function codesOf(ctx: OperationContext, vocabulary: Vocabulary, pinned: PinnedVersions | undefined): Promise<Codes | undefined> {
  ctx.authorize?.('read', 'ValueSet')
  const found = await ctx.content.resolve('ValueSet', vocabulary.id, vocabulary.version ?? undefined)
  if (found === undefined) return undefined
  const codings = storedExpansion(found.resource) ?? listedConcepts(found.resource) ?? (await expandVocabulary(ctx, vocabulary, pinned))
  return {
    bySystem: codesBySystem(codings),
    bare: new Set(codings.map(({ code }) => code)),
    listed: codings.map(({ system, code, version, display }) => ({
      kind: 'code',
      code,
      system,
      version: version ?? null,
      display: display ?? null,
    })),
  }
}

interface ListedCode {
  readonly system: string
  readonly code: string
  readonly version?: string | undefined
  readonly display?: string | undefined
}

/** The codes of the expansion in the value set, which measures publish to fix it; `undefined` if there is none, or only one page of it. */
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
    const own =
      system === undefined || code === undefined || flagAt(entry, 'abstract') === true
        ? []
        : [{ system, code, version: textAt(entry, 'version'), display: textAt(entry, 'display') }]
    return [...own, ...codesIn(nodesAt(entry, 'contains'))]
  })
}

/** The codes of a value set that only lists codes; they are known without the code system. */
function listedConcepts(valueSet: ElmNode): readonly ListedCode[] | undefined {
  const compose = nodeAt(valueSet, 'compose') ?? {}
  const includes = nodesAt(compose, 'include')
  const isList = includes.every(
    (include) => nodesAt(include, 'concept').length > 0 && nodesAt(include, 'filter').length === 0 && !('valueSet' in include),
  )
  if (includes.length === 0 || !isList || nodesAt(compose, 'exclude').length > 0) return undefined
  return includes.flatMap((include) =>
    nodesAt(include, 'concept').map((concept) => ({
      system: textAt(include, 'system') ?? '',
      code: textAt(concept, 'code') ?? '',
      version: textAt(include, 'version'),
      display: textAt(concept, 'display'),
    })),
  )
}

async function expandVocabulary(
  ctx: OperationContext,
  vocabulary: Vocabulary,
  pinned: PinnedVersions | undefined,
): Promise<readonly ListedCode[]> {
  const versions = pinned?.byUrl ?? new Map<string, string>()
  const rules = versions.size === 0 ? undefined : { fallback: versions, valueSets: versions }
  const { contains } = await expand(ctx, { url: canonicalOf(vocabulary), excludeNotForUI: true, excludeNested: true, rules })
  return contains
}

function canonicalOf({ id, version }: Vocabulary): string {
  return formatCanonical(id, version ?? undefined)
}
