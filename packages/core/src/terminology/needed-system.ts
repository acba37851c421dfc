import { formatCanonical } from '../content/index.js'
import { createPace, type OperationContext } from '../context/index.js'
import { OperationError, quoted, type ErrorDetail } from '../errors/index.js'
import { isObject, stringAt } from '../json/index.js'
import type { CodeSystemProvider } from '../code-system/index.js'
import { preparedChoice, type SystemChoice, type SystemFamily } from './code-system/system-family.js'
import { explainUnknownCode } from './explain/similar-codes.js'
import { versionStep } from './explain/steps.js'
import { escaped, refusal, type MessageId, type MessageValues, type RefusalOptions } from './messages.js'
import type { TerminologyScope } from './scope.js'
import { versionFits } from './versions.js'

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
