import type { Work } from '../../work/index.js'
import type { CodeSystemProvider } from './provider.js'

/** An imported version of a code system that was opened. */
export interface OpenedSystem {
  /** Makes what every provider needs, while other work runs in between. Absent where opening makes it. */
  readonly build?: () => Work<unknown>
  /** The provider for a request. What was not built before is built in one go. */
  readonly provider: () => CodeSystemProvider
}
