import type { OperationContext } from 'fhir-ops/context'
import { addReferences } from 'fhir-ops/internal/evaluate'
import { createPace } from 'fhir-ops/internal/context'
import type { ChangedAddress } from 'fhir-ops/internal/storage'
import { memberOf } from '../model/property.js'
import type { KeptSubject } from './kept-subject.js'

/** The kept subjects and the types of their resources, that of the subjects first. */
interface Kept {
  readonly subjects: readonly KeptSubject[]
  readonly types: readonly { readonly type: string }[]
}

/** The ids of the subjects affected by changes: those that had a changed resource, those to which one refers now, and those that changed themselves. */
export async function touchedSubjects(
  ctx: OperationContext,
  { subjects, types }: Kept,
  changed: readonly ChangedAddress[],
): Promise<ReadonlySet<string>> {
  const [own, ...others] = types
  const byType = Map.groupBy(changed, ({ type }) => type)
  const idsOf = (type = ''): ReadonlySet<string> => new Set((byType.get(type) ?? []).map(({ id }) => id))
  const touched = new Set(idsOf(own?.type))
  const pace = createPace(ctx)
  for (const [place, { type }] of others.entries()) {
    const ids = idsOf(type)
    if (ids.size === 0) continue
    for (const subject of subjects) {
      const turn = pace.step()
      if (turn !== undefined) await turn
      if (holds(subject, place, ids)) touched.add(subject.id)
    }
    for (const id of ids) {
      const stored = await ctx.storage.read(type, id)
      pace.check()
      if (stored !== undefined) addReferences(stored.resource, own?.type ?? '', touched)
    }
  }
  return touched
}

function holds({ resources }: KeptSubject, place: number, ids: ReadonlySet<string>): boolean {
  return resources[place]?.some(({ json }) => ids.has(String(memberOf(json, 'id')))) === true
}
