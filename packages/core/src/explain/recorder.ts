import { togetherCovered, type Coverage, type CriterionResult, type ExplainedCriterion } from './criteria.js'
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
  const criteria: ExplainedCriterion[] = []
  let source: Coverage | undefined
  let omitted = 0
  let searches = 0
  const step = (made: ExplanationStep): void => {
    if (steps.length < MAX_STEPS) steps.push(made)
    else omitted++
  }
  return {
    explain: {
      step,
      wantsNearest: () => ++searches <= MAX_SEARCHES,
      nearest: (codes) => void nearest.push(...codes),
      criterion: (made) => {
        if (criteria.length >= MAX_STEPS) return void omitted++
        criteria.push(made)
        step(stepOf(made))
      },
      source: (made) => (source = togetherCovered(source === undefined ? [made] : [source, made])),
    },
    explanation: () => ({
      steps: [...steps],
      omitted,
      nearest: [...nearest],
      ...(criteria.length > 0 && { criteria: [...criteria] }),
      ...(source !== undefined && { source }),
    }),
  }
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
