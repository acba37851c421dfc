import { mergeCoverage, type CriterionResult, type ExplainedCriteria, type ExplainedCriterion } from './criteria.js'
import type { Explain, Explanation, ExplanationOutcome, ExplanationStep, NearestCode } from './explanation.js'

/** Maximum number of steps; a value set may have any number of parts. */
const MAX_STEPS = 1_000

/** Maximum number of searches for similar codes: each takes half a second in a code system of 350,000 codes. */
const MAX_SEARCHES = 3

/** Collects an explanation. */
export interface Recorder {
  readonly explain: Explain
  /** Returns the explanation recorded so far. */
  readonly explanation: () => Explanation
}

/** Creates the recorder of one call. */
export function createRecorder(): Recorder {
  const steps: ExplanationStep[] = []
  const nearest: NearestCode[] = []
  let explained: ExplainedCriteria | undefined
  let omitted = 0
  let searches = 0
  return {
    explain: {
      step: (step) => {
        if (steps.length < MAX_STEPS) steps.push(step)
        else omitted++
      },
      wantsNearest: () => ++searches <= MAX_SEARCHES,
      nearest: (codes) => void nearest.push(...codes),
      criteria: (together) => (explained = together(explained)),
    },
    explanation: () => ({ steps: [...steps], omitted, nearest: [...nearest], ...explained }),
  }
}

/** Records the explanations of criteria, each also as a step, and the results of the clauses of their libraries. */
export function explainCriteria(explain: Explain, { criteria, source }: ExplainedCriteria): void {
  for (const criterion of criteria) explain.step(stepOf(criterion))
  explain.criteria((before) => {
    const covered = mergeCoverage([before?.source, source].filter((one) => one !== undefined))
    return { criteria: [...(before?.criteria ?? []), ...criteria], ...(covered !== undefined && { source: covered }) }
  })
}

const OUTCOMES: Readonly<Record<CriterionResult, ExplanationOutcome>> = {
  true: 'holds',
  false: 'fails',
  unknown: 'unknown',
  value: 'holds',
  'not-applicable': 'fails',
  failed: 'unknown',
}

function stepOf({ definition, path, result, count, reason }: ExplainedCriterion): ExplanationStep {
  return {
    kind: 'criterion',
    outcome: OUTCOMES[result],
    ...(definition !== undefined && { definition }),
    ...(path !== undefined && { path }),
    ...(count !== undefined && { count }),
    text: reason,
  }
}
