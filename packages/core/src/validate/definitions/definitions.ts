import { LRUCache } from 'lru-cache'
import { canonicalOf, type RequestDefinitions } from '../../content/index.js'
import { createPace, type OperationContext, type Cache } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import type { Explain, ExplanationStep } from '../../explain/index.js'
import { PENDING, type Pending, type TypeModel, compileFhirPath, type CompiledPath } from '../../fhirpath/index.js'
import { readJsonSource, type JsonSource } from '../../json/index.js'
import { storedInstance } from '../../operation/index.js'
import { after, type Awaitable } from '../../work/index.js'
import { compileRegex, type LinearRegex } from '../../regex/index.js'
import type { CodeList, Definitions, StoredResources } from '../run/definitions.js'
import { answers, createQuestions, type Questions, keptAnswers, type KeptAnswers } from './answers.js'
import { codeFinder } from './code-finder.js'
import { definitionFinder, profileFinder } from './profiles.js'

/** Creates the definitions of one validation. Those that it uses are recorded in the explanation, if one is requested. */
export function createDefinitions(ctx: OperationContext, model: TypeModel): Awaitable<Definitions> {
  return after(definitionsIn(ctx, model, createQuestions(ctx)), (definitions) => explainedDefinitions(definitions, ctx.explain))
}

function definitionsIn(ctx: OperationContext, model: TypeModel, questions: Questions): Awaitable<Definitions> {
  const { below } = ctx.content
  return after(keptAnswers(ctx), (kept) => {
    const own = finders(ctx, { model, questions, kept })
    return below === undefined
      ? own
      : after(definitionsIn({ ...ctx, content: below.view }, model, questions), (lower) =>
          withRequestDefinitions(own, below.fromRequest, lower),
        )
  })
}

/** What the finders of definitions share. */
interface FinderParts {
  readonly model: TypeModel
  readonly questions: Questions
  readonly kept: KeptAnswers
}

/** The members are named one by one, because spreading the five objects took a tenth of the validation of a small resource (bench `in-process`). */
function finders(ctx: OperationContext, { model, questions, kept }: FinderParts): Definitions {
  const codes = codeFinder(ctx, questions, kept)
  const resources = definitionFinder(ctx, questions, kept)
  const profiles = profileFinder(ctx, questions, { kept, model })
  const expressions = expressionCompiler(ctx.cache, model)
  return {
    valueSet: codes.valueSet,
    baseValueSet: codes.baseValueSet,
    givenValueSet: codes.givenValueSet,
    codeSystem: codes.codeSystem,
    filterProblem: codes.filterProblem,
    definition: resources.definition,
    maps: resources.maps,
    kinds: resources.kinds,
    globalProfiles: resources.globalProfiles,
    systemsWithOid: resources.systemsWithOid,
    isBase: resources.isBase,
    baseType: profiles.baseType,
    profile: profiles.profile,
    expression: expressions.expression,
    pattern: expressions.pattern,
    stored: storedFinder(ctx, questions).stored,
    otherRelease: (number: string) => ctx.crossVersion?.find(({ release }) => release === number),
    settle: questions.settle,
  }
}

/**
 * The definitions for a request that supplies some itself. Answers that depend on none of these come from the content below, which has those of earlier
 * validations; the other answers belong to the request and end with it.
 */
function withRequestDefinitions(own: Definitions, fromRequest: RequestDefinitions, below: Definitions): Definitions {
  const by = (type: string, canonical: string): Definitions =>
    fromRequest.get(type)?.has(canonicalOf(canonical).url) === true ? own : below
  const lists = new Map<CodeList, boolean>()
  const isBelow = (list: CodeList): boolean => {
    const known = lists.get(list) ?? !list.restsOn(fromRequest)
    lists.set(list, known)
    return known
  }
  const either = (list: CodeList | undefined | Pending, ask: () => CodeList | undefined | Pending): CodeList | undefined | Pending =>
    list === PENDING || (list !== undefined && isBelow(list)) ? list : ask()
  let maps: ReturnType<Definitions['maps']> = PENDING
  return {
    ...own,
    profile: (canonical) => by('StructureDefinition', canonical).profile(canonical),
    definition: (type, canonical) => by(type, canonical).definition(type, canonical),
    maps: () => {
      if (maps === PENDING) maps = mapsOf(own, below.maps(), fromRequest.get('StructureMap') ?? new Set())
      return maps
    },
    kinds: (canonical) => {
      const { url } = canonicalOf(canonical)
      return (fromRequest.values().some((urls) => urls.has(url)) ? own : below).kinds(canonical)
    },
    globalProfiles: (type) => (fromRequest.has('ImplementationGuide') ? own : below).globalProfiles(type),
    systemsWithOid: (oid) => (fromRequest.has('CodeSystem') ? own : below).systemsWithOid(oid),
    isBase: (url) => (fromRequest.has('StructureDefinition') ? own : below).isBase(url),
    codeSystem: (canonical) => by('CodeSystem', canonical).codeSystem(canonical),
    valueSet: (canonical) => either(below.valueSet(canonical), () => own.valueSet(canonical)),
    baseValueSet: (canonical) => either(below.baseValueSet(canonical), () => own.baseValueSet(canonical)),
  }
}

/** All StructureMaps, of which the request has those with the given urls. */
function mapsOf(own: Definitions, below: ReturnType<Definitions['maps']>, urls: ReadonlySet<string>): ReturnType<Definitions['maps']> {
  const given = [...urls].map((url) => own.definition('StructureMap', url))
  if (below === undefined || below === PENDING) return below
  const others = below.filter(({ url }) => typeof url !== 'string' || !urls.has(url))
  return given.includes(PENDING) ? PENDING : [...given.flatMap((one) => (one === undefined || one === PENDING ? [] : [one])), ...others]
}

/** Finds referenced resources in the storage. A resource that the caller may not read counts as absent. */
function storedFinder(ctx: OperationContext, questions: Questions): StoredResources {
  const find = answers(questions, (address) => readable(ctx, address))
  return { stored: (type, id) => find(`${type}/${id}`) }
}

async function readable(ctx: OperationContext, address: string): Promise<JsonSource | undefined> {
  const [type = '', id] = address.split('/')
  try {
    const stored = await storedInstance(ctx, { type, id })
    return stored === undefined ? undefined : await createPace(ctx).run(readJsonSource(stored.text))
  } catch (error) {
    if (error instanceof OperationError && UNREADABLE.has(error.code)) return undefined
    throw error
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['not-found', 'forbidden'])

/** Wraps definitions so that the explanation records, once, each profile and value set that the resource is checked against, and those that are not known. */
function explainedDefinitions(definitions: Definitions, explain: Explain | undefined): Definitions {
  if (explain === undefined) return definitions
  const named = new Set<string>()
  const noted = <T extends { readonly canonical: string }>(
    kind: ExplanationStep['kind'],
    asked: string,
    answer: T | undefined | Pending,
  ): T | undefined | Pending => {
    if (answer !== PENDING && !named.has(`${kind} ${asked}`)) {
      named.add(`${kind} ${asked}`)
      explain.step(stepOf(kind, asked, answer?.canonical))
    }
    return answer
  }
  return {
    ...definitions,
    profile: (canonical) => noted('profile', canonical, definitions.profile(canonical)),
    valueSet: (canonical) => noted('value-set', canonical, definitions.valueSet(canonical)),
    baseValueSet: (canonical) => noted('value-set', canonical, definitions.baseValueSet(canonical)),
  }
}

function stepOf(kind: ExplanationStep['kind'], asked: string, found: string | undefined): ExplanationStep {
  const what = kind === 'profile' ? 'profile' : 'value set'
  if (found === undefined) return { kind, outcome: 'unknown', definition: asked, text: `The ${what} ${quoted(asked)} is not known.` }
  const isNamed = found === asked
  const why = isNamed ? '' : `: it is the newest of ${quoted(asked)} that is not retired`
  return {
    kind,
    outcome: 'chosen',
    reason: isNamed ? 'request' : 'newest',
    definition: found,
    text: `The ${what} ${quoted(found)} was used${why}.`,
  }
}

const KEY = 'validate expressions'
/** Maximum total length of the expressions that are kept. */
const MOST_CHARACTERS = 500_000
/** Memory of a compiled expression. */
const BYTES_PER_CHARACTER = 100

/** Maximum number of patterns kept; each may take some hundred kilobytes while it is used. */
const MOST_PATTERNS = 100
const BYTES_PER_PATTERN = 50_000

/**
 * A class, so that it can be recognised in the cache. When it is full, all expressions are dropped, because dropping only the oldest would make lookups
 * more expensive (bench `validate`).
 */
class Expressions {
  readonly paths = new Map<string, CompiledPath>()
  readonly patterns = new LRUCache<string, { readonly regex: LinearRegex | undefined }>({ max: MOST_PATTERNS })
  characters = 0

  get bytes(): number {
    return 1 + this.characters * BYTES_PER_CHARACTER + this.patterns.size * BYTES_PER_PATTERN
  }
}

/** Compiles the FHIRPath and the regular expressions of definitions, each once per cache. */
function expressionCompiler(cache: Cache, model: TypeModel): Pick<Definitions, 'expression' | 'pattern'> {
  let used: Expressions | undefined
  return {
    expression(text) {
      const known = (used ??= expressionsIn(cache))
      const found = known.paths.get(text)
      if (found !== undefined) return found
      const compiled = compileFhirPath(text, { model })
      keep(known, compiled)
      cache.set(KEY, known, known.bytes)
      return compiled
    },
    pattern(text) {
      const known = (used ??= expressionsIn(cache))
      const found = known.patterns.get(text)
      if (found !== undefined) return found.regex
      const regex = usableRegex(text)
      known.patterns.set(text, { regex })
      cache.set(KEY, known, known.bytes)
      return regex
    },
  }
}

function keep(known: Expressions, compiled: CompiledPath): void {
  const { length } = compiled.expression
  if (known.characters + length > MOST_CHARACTERS) {
    known.paths.clear()
    known.characters = 0
  }
  known.paths.set(compiled.expression, compiled)
  known.characters += length
}

function usableRegex(pattern: string): LinearRegex | undefined {
  try {
    return compileRegex(pattern)
  } catch (error) {
    if (error instanceof OperationError) return undefined
    throw error
  }
}

function expressionsIn(cache: Cache): Expressions {
  const found = cache.get(KEY)
  if (found instanceof Expressions) return found
  return new Expressions()
}
