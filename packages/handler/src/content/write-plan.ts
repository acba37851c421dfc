import type { DeleteEntry, StoredResource, WriteEntry } from 'fhir-ops/storage'
import type { Work } from 'fhir-ops/internal/work'

/** A write whose resource is known, before anything is written. */
export type WritePlan =
  /** The text of the resource may still be changed: references within a transaction. */
  | {
      readonly kind: 'put'
      readonly type: string
      readonly id: string
      readonly text: string
      readonly entry: (text: string) => Work<WriteEntry>
    }
  /** As many as the criteria find, or the one that is named; `hidden` where that one is out of the caller's reach, and stays. */
  | { readonly kind: 'delete'; readonly entries: readonly DeleteEntry[]; readonly hidden?: boolean }
  /** A conditional create that found its resource. */
  | { readonly kind: 'found'; readonly type: string; readonly id: string; readonly stored: StoredResource }

/** What a plan changes. @param text The resource where it is not the one that was sent. */
export function* entriesOf(plan: WritePlan, text?: string): Work<readonly WriteEntry[]> {
  if (plan.kind === 'put') return [yield* plan.entry(text ?? plan.text)]
  return plan.kind === 'delete' && plan.hidden !== true ? plan.entries : []
}
