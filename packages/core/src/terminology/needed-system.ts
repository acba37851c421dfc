import { formatCanonical } from '../content/index.js'
import { createPace, type OperationContext, type Pace } from '../context/index.js'
import { OperationError, quoted, type ErrorDetail } from '../errors/index.js'
import { isObject, stringAt } from '../json/index.js'
import type { CodeSystemProvider } from '../code-system/index.js'
import { preparedChoice, type SystemChoice, type SystemFamily } from './code-system/system-family.js'
import { versionStep } from './explain/steps.js'
import { escaped, refusal, type MessageId, type MessageValues, type RefusalOptions } from './messages.js'
import type { TerminologyScope } from './scope.js'
import { versionFits } from './versions.js'
import type { Explain, NearestCode } from '../explain/index.js'
import { conceptTexts, mainText } from './concept-texts.js'
import { distancesFrom } from '../text/index.js'
import { foldTerm } from './words.js'

/** A code system that an operation needs. */
export interface NeededSystem {
  /** Url of the code system. */
  readonly system: string
  readonly version?: string | undefined
  /** Where the version is named, for the explanation. */
  readonly reason: 'coding' | 'request'
  /** Returns the place of the url or the version in the input; empty for what the input does not name. Called only for an error. */
  readonly place: (member: 'system' | 'version') => readonly string[]
  /** What is impossible without it, for the message: `the code cannot be looked up`. */
  readonly consequence: string
}

/**
 * Returns the name of a request's code system, from its parameters and the CodeSystem in the request.
 *
 * @throws {OperationError} `parameter-invalid` if a parameter names a different url or version than that CodeSystem has.
 */
export function agreedSystem(codeSystem: object | undefined, named: SystemName): SystemName {
  if (!isObject(codeSystem)) return named
  const [url, version] = [stringAt(codeSystem, 'url'), stringAt(codeSystem, 'version')]
  if (named.system !== undefined && named.system !== url) throw otherSystem('system', named.system, url)
  if (named.version !== undefined && !versionFits(named.version, version)) throw otherSystem('version', named.version, version)
  return { system: url, version }
}

/** A code system by url and version, as far as known. */
interface SystemName {
  readonly system?: string | undefined
  readonly version?: string | undefined
}

function otherSystem(name: keyof SystemName, named: string, given: string | undefined): OperationError {
  const text = `The ${name} is ${quoted(named)}, and that of the CodeSystem that is given is ${given === undefined ? 'absent' : quoted(given)}.`
  return new OperationError('parameter-invalid', text, { expression: [name] })
}

/**
 * Returns the code system in the named version, or in the version that rules and status choose.
 *
 * @throws {OperationError} `not-found` when unknown; `unprocessable` for a version that `check-system-version` forbids.
 */
export async function neededSystem(scope: TerminologyScope, needed: NeededSystem): Promise<CodeSystemProvider> {
  const family = await scope.family(needed.system)
  const choice = await preparedChoice(family, { include: needed.version, rules: scope.rules })
  scope.ctx.explain?.step(versionStep(choice, needed.reason))
  refuseForbidden(choice, { expression: needed.place('version') })
  if (choice.provider !== undefined) return choice.provider
  const [id, values] = unknownSystemValues(family, choice.wished, needed.consequence + unknownReason(family))
  const member = family.unknown || needed.version === undefined ? 'system' : 'version'
  throw refusal(id, values, {
    code: 'not-found',
    expression: needed.place(member),
    missing: { kind: 'CodeSystem', name: formatCanonical(family.url, choice.wished) },
  })
}

/** @throws {OperationError} `unprocessable` for a version that `check-system-version` forbids. */
export function refuseForbidden({ family, provider, violates }: SystemChoice, options: RefusalOptions = {}): void {
  if (violates === undefined) return
  const values = { system: family.url, version: provider?.header.version ?? '', required: violates }
  throw refusal('VALUESET_VERSION_CHECK', values, options)
}

/**
 * Finds the concept with this code; for an unknown code, the explanation lists similar ones.
 *
 * @param place Place of the code in the input.
 * @throws {OperationError} `not-found` for an unknown code.
 */
export async function neededConcept(ctx: OperationContext, provider: CodeSystemProvider, code: string, place: CodePlace): Promise<number> {
  const concept = provider.find(code)
  if (concept !== undefined) return concept
  await explainUnknownCode(ctx.explain, createPace(ctx), { provider, code })
  const { url, version } = provider.header
  const where = version === undefined ? escaped(url) : `${escaped(url)} version ${escaped(version)}`
  throw new OperationError('not-found', `Unable to find code '${escaped(code)}' in ${where}`, {
    ...place,
    missing: { kind: 'code', name: code },
  })
}

type CodePlace = Pick<ErrorDetail, 'expression' | 'omitsPlace'>

/** The consequence for expansions; messages with it have different ids. */
export const NOT_EXPANDED = 'the value set cannot be expanded'

/**
 * Returns the message for an unknown code system or version.
 *
 * @param consequence What is impossible without it, perhaps with `unknownReason`.
 */
export function unknownSystemValues(
  { url: system, versions }: SystemFamily,
  version: string | undefined,
  consequence: string,
): readonly [MessageId, MessageValues] {
  const expansion = consequence.startsWith(NOT_EXPANDED) ? '_EXP' : ''
  if (version === undefined) return [`UNKNOWN_CODESYSTEM${expansion}`, { system, consequence }]
  if (versions.length === 0) return [`UNKNOWN_CODESYSTEM_VERSION${expansion}_NONE`, { system, version, consequence }]
  const known = versions.map(escaped).join(' or ')
  return [`UNKNOWN_CODESYSTEM_VERSION${expansion}`, { system, version, consequence, versions: known }]
}

/** Returns why a code system may be unknown although something like it exists, to append to a consequence; empty if there is nothing to say. */
export function unknownReason({ url, supplement, contentless }: SystemFamily): string {
  if (supplement !== undefined) return ': it is a supplement of another code system'
  if (contentless === true) return `: the content of its definition is 'not-present'`
  return url.includes('|') ? ": a system is a url without '|' and version" : ''
}

/** A code that does not exist in its code system. */
interface UnknownCode {
  readonly provider: CodeSystemProvider
  readonly code: string
}

/** Maximum number of similar codes that an explanation lists for one code. */
export const MOST_NEAREST = 5

/** Records that a code does not exist, why, and which codes are written similarly. */
export async function explainUnknownCode(explain: Explain | undefined, pace: Pace, { provider, code }: UnknownCode): Promise<void> {
  if (explain === undefined) return
  const { url, version } = provider.header
  const definition = formatCanonical(url, version)
  const why = provider.grammar?.whyNot(code)
  explain.step({
    kind: 'code',
    outcome: provider.header.complete ? 'fails' : 'unknown',
    reason: 'unknown-code',
    definition,
    coding: { system: url, code },
    text: `${quoted(code)} is not a code of ${quoted(definition)}${why === undefined ? '' : `: ${why}`}.`,
  })
  if (!explain.wantsNearest()) return
  const found = await nearestOf(pace, code, candidatesIn(provider))
  explain.nearest(eachOnce(found).map((near) => nearestCode(provider, near)))
}

type Named = readonly [concept: number, by: NearestCode['by']]

/** Yields all codes, then all texts; for a computed system, those in common use. */
function* candidatesIn(provider: CodeSystemProvider): Generator<Candidate<Named>> {
  if (provider.grammar?.common !== undefined) provider.index?.all()
  const size = provider.index?.size ?? 0
  for (let concept = 0; concept < size; concept++) yield { text: provider.code(concept), item: [concept, 'code'] }
  for (let concept = 0; concept < size; concept++) {
    for (const { value } of conceptTexts(provider, concept)) yield { text: value, item: [concept, 'text'] }
  }
}

function eachOnce(found: readonly NearItem<Named>[]): readonly NearItem<Named>[] {
  const concepts = new Set<number>()
  return found.filter(({ item: [concept] }) => !concepts.has(concept) && concepts.add(concept)).slice(0, MOST_NEAREST)
}

function nearestCode(provider: CodeSystemProvider, { item: [concept, by], distance }: NearItem<Named>): NearestCode {
  const { url, version } = provider.header
  const display = mainText(provider, concept)?.value
  const coding = {
    system: url,
    ...(version !== undefined && { version }),
    code: provider.code(concept),
    ...(display !== undefined && { display }),
  }
  return { coding, distance, by }
}

/** A candidate with its text. */
export interface Candidate<T> {
  readonly text: string
  readonly item: T
}

/** A candidate that is similar to the written text. */
export interface NearItem<T> {
  readonly item: T
  readonly distance: number
}

const MOST_ITEMS = 5
const MOST_ERRORS = 4
/** Maximum number of candidates that are compared. */
const BUDGET = 500_000
const LONGEST = 200
const STEPS = 1_024

/**
 * Finds the most similar candidates, at most five per distance, those with the fewest errors first, then in their order. A third of the letters may be
 * wrong, at most four; case and accents are ignored. Only the first 200 characters of the text and the first 500,000 candidates are compared.
 */
export async function nearestOf<T>(pace: Pace, written: string, candidates: Iterable<Candidate<T>>): Promise<readonly NearItem<T>[]> {
  const wanted = foldTerm(written.slice(0, LONGEST))
  const most = Math.min(MOST_ERRORS, Math.max(1, Math.floor(wanted.length / 3)))
  const byDistance = Array.from({ length: most + 1 }, (): NearItem<T>[] => [])
  const distanceTo = distancesFrom(wanted, most)
  let seen = 0
  for (const { text, item } of candidates) {
    if (++seen > BUDGET) break
    if (seen % STEPS === 0) await pace.step()
    if (Math.abs(text.length - wanted.length) > most) continue
    const distance = distanceTo(foldTerm(text))
    const alike = byDistance[distance]
    if (alike !== undefined && alike.length < MOST_ITEMS) alike.push({ item, distance })
  }
  return byDistance.flat()
}
