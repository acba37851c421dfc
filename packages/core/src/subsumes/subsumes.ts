import type { Coding, Parameters } from 'fhir/r4.js'
import { checkpoint, explained, type Explained, type ExplainOption, type OperationContext } from '../context/index.js'
import { checkResult, OperationError, quoted } from '../errors/index.js'
import { explanationParameter } from '../explain/index.js'
import { ambiguousCode, checkInput, CODING, FLAG, inputShape, resourceOf, TEXT } from '../input/index.js'
import {
  agreedSystem,
  hierarchyStep,
  neededConcept,
  neededSystem,
  systemScope,
  VERSION_RULES,
  type CodeSystemProvider,
  type VersionRules,
} from '../terminology/index.js'

/** Two codes of one system. */
export interface TwoCodes {
  /** Url of the code system of both codes. */
  readonly system: string
  /** Version of the code system. Default: the newest that is not retired. */
  readonly version?: string | undefined
  readonly codeA: string
  readonly codeB: string
  readonly codingA?: undefined
  readonly codingB?: undefined
}

/** Two codes as FHIR Codings, which must have the same code system and version. */
export interface TwoCodings {
  readonly codingA: Coding
  readonly codingB: Coding
  readonly system?: undefined
  readonly version?: undefined
  readonly codeA?: undefined
  readonly codeB?: undefined
}

/** Input of `subsumes`: `codeA` and `codeB` of a `system`, or `codingA` and `codingB`. */
export type SubsumesInput = (TwoCodes | TwoCodings) & SubsumesOptions

/** Options of the comparison of two codes. */
export interface SubsumesOptions extends ExplainOption {
  /** Rules that choose versions of code systems. */
  readonly rules?: VersionRules | undefined
  /** The CodeSystem resource itself, used instead of all others with its url. */
  readonly codeSystem?: object | undefined
}

/** `SubsumesInput` as it arrives from Parameters or plain JavaScript; may mix a code and a coding. */
export interface LooseSubsumesInput extends SubsumesOptions {
  readonly system?: string | undefined
  readonly version?: string | undefined
  readonly codeA?: string | undefined
  readonly codeB?: string | undefined
  readonly codingA?: Coding | undefined
  readonly codingB?: Coding | undefined
}

const SUBSUMES_INPUT = inputShape<SubsumesInput>({
  system: TEXT,
  version: TEXT,
  codeA: TEXT,
  codeB: TEXT,
  codingA: CODING,
  codingB: CODING,
  rules: VERSION_RULES,
  codeSystem: resourceOf('CodeSystem'),
  explain: FLAG,
})

/** Relationship of A to B: `subsumes` when A is an ancestor of B. */
export type SubsumptionOutcome = 'equivalent' | 'subsumes' | 'subsumed-by' | 'not-subsumed'

/** Result of the comparison of two codes. */
export interface SubsumesResult extends Explained {
  readonly outcome: SubsumptionOutcome
}

/**
 * Compares two codes in the hierarchy of their code system: one subsumes the other, they are equivalent, or neither subsumes the other.
 *
 * @returns The outcome; with `explain: true` also the path from one code up to the other.
 * @throws {OperationError} `parameter-required` when a code or the system is missing; `source-ambiguous` for a code together with its coding;
 *   `parameter-invalid` for two systems or two versions; `not-found` for an unknown code, code system or version.
 * @see https://hl7.org/fhir/R4/codesystem-operation-subsumes.html
 */
export function subsumes(ctx: OperationContext, input: SubsumesInput): Promise<SubsumesResult> {
  return answerSubsumes(ctx, input)
}

/** As `subsumes`, for loosely typed input. @throws {OperationError} as `subsumes`. */
export function answerSubsumes(ctx: OperationContext, input: LooseSubsumesInput): Promise<SubsumesResult> {
  return explained(ctx, input, (own) => compared(own, input))
}

async function compared(ctx: OperationContext, input: LooseSubsumesInput): Promise<SubsumesResult> {
  checkInput(ctx, input, SUBSUMES_INPUT)
  checkpoint(ctx)
  const { system, version, codeA, codeB } = pairOf(input)
  const scope = await systemScope(ctx, input)
  const provider = await neededSystem(scope, {
    system,
    version,
    reason: 'request',
    consequence: 'the codes cannot be compared',
    place: (member) => [placeOf(input, member)],
  })
  const a = await neededConcept(ctx, provider, codeA, { expression: [input.codingA === undefined ? 'codeA' : 'codingA.code'] })
  const b = await neededConcept(ctx, provider, codeB, { expression: [input.codingB === undefined ? 'codeB' : 'codingB.code'] })
  ctx.explain?.step(hierarchyStep(provider, { a, b }))
  return { outcome: outcomeOf(provider, a, b) }
}

function pairOf({ codingA, codingB, ...input }: LooseSubsumesInput): Pick<TwoCodes, 'system' | 'version' | 'codeA' | 'codeB'> {
  const [codeA, codeB] = [oneCode('A', input.codeA, codingA), oneCode('B', input.codeB, codingB)]
  const { system, version } = agreedSystem(input.codeSystem, {
    system: onlyOne('system', [input.system, codingA?.system, codingB?.system]),
    version: onlyOne('version', [input.version, codingA?.version, codingB?.version]),
  })
  if (codeA !== undefined && codeB !== undefined && system !== undefined) return { system, version, codeA, codeB }
  throw new OperationError(
    'parameter-required',
    'Two codes and their system must be given: codeA, codeB and system, or codingA and codingB.',
    { expression: Object.entries({ codeA, codeB, system }).flatMap(([name, value]) => (value === undefined ? name : [])) },
  )
}

function placeOf({ codingA, ...input }: LooseSubsumesInput, member: 'system' | 'version'): string {
  if (input[member] !== undefined) return member
  return codingA?.[member] === undefined ? `codingB.${member}` : `codingA.${member}`
}

function oneCode(side: 'A' | 'B', code: string | undefined, coding: Coding | undefined): string | undefined {
  if (code !== undefined && coding !== undefined) throw ambiguousCode([`code${side}`, `coding${side}`])
  return code ?? coding?.code
}

/** Returns the only value stated; codes of different systems or versions cannot be compared. @throws {OperationError} `parameter-invalid` for two values. */
export function onlyOne(name: 'system' | 'version', stated: readonly (string | undefined)[]): string | undefined {
  const [first, other] = new Set(stated.flatMap((one) => one ?? []))
  if (first === undefined || other === undefined) return first
  const kind = name === 'system' ? 'code system' : 'version'
  throw new OperationError('parameter-invalid', `Both codes must be of one ${kind}, not of ${quoted(first)} and ${quoted(other)}.`, {
    expression: [name],
  })
}

/** Where the hierarchy consists of parts or groups, being above does not mean subsuming. */
function outcomeOf({ header, hierarchy }: CodeSystemProvider, a: number, b: number): SubsumptionOutcome {
  if (header.subsumes === false && a !== b) return 'not-subsumed'
  const [isAbove, isBelow] = [hierarchy.isWithin(b, a), hierarchy.isWithin(a, b)]
  if (isAbove && isBelow) return 'equivalent'
  if (isAbove) return 'subsumes'
  return isBelow ? 'subsumed-by' : 'not-subsumed'
}

/** Creates the Parameters that `$subsumes` returns. */
export function toParameters(result: SubsumesResult): Parameters {
  checkResult('subsumes', result, 'outcome')
  const { outcome, explanation } = result
  return { resourceType: 'Parameters', parameter: [{ name: 'outcome', valueCode: outcome }, ...explanationParameter(explanation)] }
}
