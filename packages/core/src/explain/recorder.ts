import type { Explain, Explanation, ExplanationStep, NearestCode } from './explanation.js'

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
  let omitted = 0
  let searches = 0
  return {
    explain: {
      step(step) {
        if (steps.length < MAX_STEPS) steps.push(step)
        else omitted++
      },
      wantsNearest: () => ++searches <= MAX_SEARCHES,
      nearest: (codes) => void nearest.push(...codes),
    },
    explanation: () => ({ steps: [...steps], omitted, nearest: [...nearest] }),
  }
}
