import type { Explain, Explanation, ExplanationStep, NearestCode } from './explanation.js'

/** Steps that are kept; a value set may have any number of parts. */
const MAX_STEPS = 1_000

/** Collects an explanation. */
export interface Recorder {
  readonly explain: Explain
  /** What was written down so far. */
  readonly explanation: () => Explanation
}

/** Makes the recorder of one call. */
export function createRecorder(): Recorder {
  const steps: ExplanationStep[] = []
  const nearest: NearestCode[] = []
  let omitted = 0
  return {
    explain: {
      step(step) {
        if (steps.length < MAX_STEPS) steps.push(step)
        else omitted++
      },
      nearest: (codes) => void nearest.push(...codes),
    },
    explanation: () => ({ steps: [...steps], omitted, nearest: [...nearest] }),
  }
}
