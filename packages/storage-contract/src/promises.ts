import { writableText, type Condition, type IndexEntry, type PutEntry, type SearchQuery, type Storage } from 'fhir-ops/storage'

/** The storage that a test of the contract works with. */
export interface Subject {
  readonly storage: Storage
  /** Opens the same content again, after the first storage has been closed. */
  readonly reopen: (() => Promise<Storage>) | undefined
  /** Sets the clock of `lastUpdated`. */
  readonly setTime: (instant: string) => void
}

/** A sentence of the documentation of `Storage`, and the test that it holds. */
export interface StoragePromise {
  readonly promise: string
  readonly check: (subject: Subject) => Promise<void>
}

const GENDER = 'http://hl7.org/fhir/administrative-gender'

/** A Patient of that gender, found by `gender`. */
export function patient(id: string, gender = 'female'): PutEntry {
  const text = writableText('Patient', id, { resourceType: 'Patient', gender })
  return { op: 'put', type: 'Patient', id, text, entries: [{ param: 'gender', system: GENDER, value: gender }] }
}

/** An Observation about that Patient, found by `subject` and `code`. */
export function observation(id: string, subject: string, code = 'weight'): PutEntry {
  const reference = `Patient/${subject}`
  const resource = { resourceType: 'Observation', status: 'final', code: { coding: [{ code }] }, subject: { reference } }
  return {
    op: 'put',
    type: 'Observation',
    id,
    text: writableText('Observation', id, resource),
    entries: [
      { param: 'subject', system: 'Patient', value: subject },
      { param: 'code', value: code },
    ],
  }
}

/** A Basic with these index entries. */
export function indexed(id: string, ...entries: readonly IndexEntry[]): PutEntry {
  const resource = { resourceType: 'Basic', code: { text: id } }
  return { op: 'put', type: 'Basic', id, text: writableText('Basic', id, resource), entries }
}

export const EVERYTHING: Condition = { kind: 'and', conditions: [] }

export const ALL_PATIENTS: SearchQuery = { type: 'Patient', where: EVERYTHING, parameters: [] }

/** Patients by gender. */
export function byGender(gender: string): SearchQuery {
  const where = { kind: 'entry', param: 'gender', all: [{ field: 'value', op: 'eq', operand: gender }] } as const
  return { type: 'Patient', where, parameters: [['gender', gender]] }
}

/** The ids of every match, page by page, in order. */
export async function idsOf(storage: Storage, query: SearchQuery): Promise<readonly string[]> {
  const ids: string[] = []
  let after = query.after
  do {
    const page = await storage.search({ ...query, ...(after !== undefined && { after }) })
    ids.push(...page.items.map((item) => item.id))
    after = page.next
  } while (after !== undefined)
  return ids
}

/** The ids of the Basics that satisfy a condition. */
export function basicsWhere(storage: Storage, where: Condition): Promise<readonly string[]> {
  return idsOf(storage, { type: 'Basic', where })
}
