import { decisionOn, SAME_FAULT, type Row } from './decisions.js'
import { type RunFacts, without } from './facts.js'
import type { Issue } from './issue.js'

/** An issue that only one of the validators reports. */
export interface Difference {
  readonly side: 'ours' | 'theirs'
  readonly issue: Issue
  readonly change: string
  /** Name of a reason in the decisions; `undefined` while nobody has decided. */
  readonly reason: string | undefined
  /** The row of the decisions with this reason; absent for consequences of a fault that both have found. */
  readonly decision: Row | undefined
}

/** The agreement of two answers to one case. */
export interface Comparison {
  /** Both say valid, or both say invalid. */
  readonly verdict: boolean
  /** Errors at the same places. */
  readonly errors: boolean
  /** Warnings at the same places, or at places where the other has errors. */
  readonly warnings: boolean
  readonly differences: readonly Difference[]
}

/** Both answers to a changed case: all issues, and those that the original case does not have. */
export interface Answers {
  readonly change: string
  readonly theirs: Answer
  readonly ours: Answer
}

export interface Answer {
  readonly all: readonly Issue[]
  readonly added: readonly Issue[]
}

/** The answer of a validator to a change, from the added and removed issues. */
export function answerTo(base: readonly Issue[], { added, removed }: Pick<RunFacts, 'added' | 'removed'>): Answer {
  return { all: [...without(base, removed), ...added], added }
}

/** Compares the issues that the undamaged resource does not have. */
export function compared({ change, theirs, ours }: Answers, rows: readonly Row[]): Comparison {
  const pairs = [
    { side: 'theirs', mine: theirs, other: ours },
    { side: 'ours', mine: ours, other: theirs },
  ] as const
  const differences = pairs.flatMap(({ side, mine, other }) =>
    missing(mine, other).map((issue) => decided({ difference: { side, issue, change }, other, rows })),
  )
  const isAgreed = (severity: Issue['severity']): boolean => differences.every(({ issue }) => issue.severity !== severity)
  return { verdict: isInvalid(theirs) === isInvalid(ours), errors: isAgreed('error'), warnings: isAgreed('warning'), differences }
}

function isInvalid({ all }: Answer): boolean {
  return all.some(({ severity }) => severity === 'error')
}

/** Errors and warnings of one answer at places where the other has none of at least the same severity. */
function missing(mine: Answer, other: Answer): readonly Issue[] {
  const errors = new Set(other.all.filter(({ severity }) => severity === 'error').map(({ place }) => place))
  const warnings = new Set(other.all.filter(({ severity }) => severity === 'warning').map(({ place }) => place))
  return mine.added.filter(
    ({ severity, place }) => severity !== 'information' && !errors.has(place) && (severity === 'error' || !warnings.has(place)),
  )
}

interface Undecided {
  readonly difference: Omit<Difference, 'reason' | 'decision'>
  readonly other: Answer
  readonly rows: readonly Row[]
}

function decided({ difference, other, rows }: Undecided): Difference {
  const decision = decisionOn(difference, rows)
  const reason = decision?.reason ?? (isOfSameFault(difference.issue, other) ? SAME_FAULT : undefined)
  return { ...difference, decision, reason }
}

/** True if the other has found the fault at a containing or contained element. The resource itself contains everything, so it does not count. */
function isOfSameFault({ place }: Issue, { added }: Answer): boolean {
  return added.some(({ severity, place: known }) => severity === 'error' && (isAround(known, place) || isAround(place, known)))
}

function isAround(outer: string, inner: string): boolean {
  return outer.includes('.') && inner.startsWith(outer) && /^[.[]/.test(inner.slice(outer.length))
}
