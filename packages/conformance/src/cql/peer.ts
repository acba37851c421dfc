import cql from 'cql-execution'
import { PatientSource } from 'cql-exec-fhir'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'

/** Inputs of the peer. */
interface PeerLibrary {
  readonly elm: object
  /** ELM of FHIRHelpers. */
  readonly helpers: object
  readonly now: Date
  /** Codes by canonical. */
  readonly valueSets: Readonly<Record<string, readonly (readonly [system: string, code: string])[]>>
}

/** Values of definitions for one patient by cql-execution, each evaluated separately. The value of one that fails is its message. */
export async function peerValues(
  record: readonly JsonObject[],
  names: readonly string[],
  { elm, helpers, now, valueSets }: PeerLibrary,
): Promise<ReadonlyMap<string, string>> {
  const library = new cql.Library(elm, new cql.Repository({ FHIRHelpers: helpers }))
  const codes = Object.entries(valueSets).map(([url, entries]) => [
    url,
    { '': entries.map(([system, code]) => ({ system, code, version: '' })) },
  ])
  const source = PatientSource.FHIRv401()
  const bundle = { resourceType: 'Bundle', type: 'collection', entry: record.map((resource) => ({ resource })) }
  source.loadBundles([JSON.parse(JSON.stringify(bundle))])
  const patient = source.currentPatient() ?? undefined
  const executor = new cql.Executor(library, new cql.CodeService(Object.fromEntries(codes)), {})
  const values = new Map<string, string>()
  for (const name of names) {
    let next = patient
    const once = { currentPatient: () => next, nextPatient: () => (next = undefined) }
    try {
      const { patientResults }: { readonly patientResults: Readonly<Record<string, Readonly<Record<string, unknown>>>> } =
        await executor.exec_expression(name, once, cql.DateTime.fromJSDate(now, 0))
      values.set(name, textOf(Object.values(patientResults)[0]?.[name]))
    } catch (error) {
      values.set(name, error instanceof Error ? error.message : String(error))
    }
  }
  return values
}

/** Writes a value as a CQL literal. The peer has one type for all numbers. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : objectText(value)
}

function objectText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '{}' : `{ ${value.map(textOf).join(', ')} }`
  if (value instanceof cql.DateTime || value instanceof cql.Date) return `@${value.toString()}`
  if (value instanceof cql.Quantity) return `${String(value.value)} '${String(value.unit ?? '1')}'`
  if (value instanceof cql.Interval) {
    const [low, high] = [value.lowClosed ? '[' : '(', value.highClosed ? ']' : ')']
    return `Interval${low}${textOf(value.low)}, ${textOf(value.high)}${high}`
  }
  if (!isObject(value)) throw new TypeError(`No literal is known for values of type ${typeof value}.`)
  const members = Object.entries(value).map(([name, member]) => `${name}: ${textOf(member)}`)
  return `Tuple { ${members.join(', ')} }`
}
