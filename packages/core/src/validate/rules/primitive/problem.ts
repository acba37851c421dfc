import type { FindingKind } from '../../finding-kinds.js'
import type { Finding } from '../../run/finding.js'

/** What is wrong with the form of a value. With a severity, which is then below `error`, the value can be used. */
export interface PrimitiveProblem {
  readonly kind: FindingKind
  readonly text: string
  readonly severity?: Finding['severity']
}
