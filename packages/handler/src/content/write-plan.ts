import type { Pace } from 'fhir-ops/internal/context'
import type { DeleteEntry, StoredResource, WriteEntry } from 'fhir-ops/storage'
import type { Work } from 'fhir-ops/internal/work'

/** A planned write, whose resource is known. */
export type WritePlan =
  /** The text of the resource may still change, because of references within a transaction. */
  | {
      readonly kind: 'put'
      readonly type: string
      readonly id: string
      readonly text: string
      readonly entry: (text: string) => Work<WriteEntry>
    }
  /** Deletes one resource by id, or all that meet the criteria; with `hidden`, the resource is out of the caller's reach and is not deleted. */
  | { readonly kind: 'delete'; readonly entries: readonly DeleteEntry[]; readonly hidden?: boolean }
  /** A conditional create that found an existing resource. */
  | { readonly kind: 'found'; readonly type: string; readonly id: string; readonly stored: StoredResource }

/** Returns the changes of a plan. @param text Text of the resource, if it differs from the one that was sent. */
export async function writesOf(plan: WritePlan, pace: Pace, text?: string): Promise<readonly WriteEntry[]> {
  if (plan.kind === 'put') return [await pace.run(plan.entry(text ?? plan.text))]
  return plan.kind === 'delete' && plan.hidden !== true ? plan.entries : []
}
