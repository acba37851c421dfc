import { togetherCovered, type CriterionResult, type ExplainedCriteria, type ExplainedCriterion } from './criteria.js'
import type { Explain, Explanation, ExplanationOutcome, ExplanationStep, NearestCode } from './explanation.js'

/** Most steps that are kept; a value set may have any number of parts. */
const MAX_STEPS = 1_000

/** Most unknown codes for which similar ones are searched: half a second each in a code system of 350,000. */
const MAX_SEARCHES = 3

/** Collects an explanation. */
export interface Recorder {
  readonly explain: Explain
  /** What was recorded so far. */
  readonly explanation: () => Explanation
}

/** Makes the recorder of one call. */
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

/** Records why criteria have their results, each as a step, too, and what the clauses of their libraries were. */
export function explainCriteria(explain: Explain, { criteria, source }: ExplainedCriteria): void {
  for (const criterion of criteria) explain.step(stepOf(criterion))
  explain.criteria((before) => {
    const covered = togetherCovered([before?.source, source].filter((one) => one !== undefined))
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
