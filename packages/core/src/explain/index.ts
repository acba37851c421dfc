export type {
  ExplainedCoding,
  Explain,
  Explanation,
  ExplanationKind,
  ExplanationOutcome,
  ExplanationReason,
  ExplanationStep,
  NearestCode,
} from './explanation.js'
export { createRecorder, type Recorder } from './recorder.js'
export { EXPLANATION, explanationExtension, explanationParameter } from './write-explanation.js'
