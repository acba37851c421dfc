import type { StoredResource, WriteEntry } from 'fhir-ops/storage'

/** A write whose resource is known, before anything is written. */
export type WritePlan =
  /** The text of the resource may still be changed: references within a transaction. */
  | {
      readonly kind: 'put'
      readonly type: string
      readonly id: string
      readonly text: string
      readonly entry: (text: string) => WriteEntry
    }
  | { readonly kind: 'delete'; readonly type: string; readonly id: string; readonly entry: WriteEntry }
  /** A conditional create that found its resource. */
  | { readonly kind: 'found'; readonly type: string; readonly id: string; readonly stored: StoredResource }
  /** A conditional delete that found nothing. */
  | { readonly kind: 'nothing'; readonly type: string }

/** What a plan changes; `undefined` when it changes nothing. @param text The resource where it is not the one that was sent. */
export function entryOf(plan: WritePlan, text?: string): WriteEntry | undefined {
  if (plan.kind === 'put') return plan.entry(text ?? plan.text)
  return plan.kind === 'delete' ? plan.entry : undefined
}
