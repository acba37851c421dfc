import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { parsedJson } from '../json-fault.js'
import { counted } from '../text.js'
import type { Checked } from '../validate/report.js'
import type { PackageFolder } from './guide-files.js'

const SUMMARY = 'other/validation-summary.json'
const OUTCOMES = 'other/validation-oo.json'

/** Numbers of errors by `Type/id`, as determined by a package's publisher; empty if the package does not state any. */
export type DeclaredErrors = ReadonlyMap<string, number>

/** Reads the results that HL7's publisher writes into packages: a summary by resource, or the OperationOutcomes on which it is based. */
export async function declaredErrors({ files }: PackageFolder): Promise<DeclaredErrors> {
  let outcomes: DeclaredErrors = new Map()
  for await (const { name, text } of files((file) => file === SUMMARY || file === OUTCOMES)) {
    const value = parsedJson(text)
    if (!isObject(value)) continue
    if (name === SUMMARY) return errorsInSummary(value)
    outcomes = errorsInOutcomes(value)
  }
  return outcomes
}

function errorsInSummary(summary: JsonObject): DeclaredErrors {
  return new Map(
    Object.entries(summary).flatMap(([address, counts]): [string, number][] => {
      const errors = isObject(counts) ? counts['errors'] : undefined
      return typeof errors === 'number' ? [[address, errors]] : []
    }),
  )
}

/** Reads OperationOutcomes; each has the id `Type-id` of its resource. */
function errorsInOutcomes(bundle: JsonObject): DeclaredErrors {
  return new Map(
    objectsAt(bundle, 'entry').flatMap(({ resource }): [string, number][] => {
      const id = isObject(resource) ? stringAt(resource, 'id') : undefined
      if (!isObject(resource) || id === undefined) return []
      const errors = objectsAt(resource, 'issue').filter(({ severity }) => severity === 'error' || severity === 'fatal')
      return [[id.replace('-', '/'), errors.length]]
    }),
  )
}

/** Compares results with those that a package declares. */
export interface Comparison {
  readonly add: (checked: Checked) => void
  /** Lists the differences by resource, and the number of agreements; empty if the package declares nothing. */
  readonly lines: () => readonly string[]
}

/** Creates a comparison of verdicts only, because the number of findings depends on how they are worded. */
export function comparisonWith(declared: DeclaredErrors): Comparison {
  const differences: string[] = []
  let agreed = 0
  return {
    add: ({ source, result: { findings } }) => {
      const address = addressIn(source.text)
      const theirs = address === undefined ? undefined : declared.get(address)
      if (address === undefined || theirs === undefined) return
      const ours = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal').length
      if (ours > 0 === theirs > 0) agreed++
      else differences.push(`  ${address}: ${counted(ours, 'error')} here, ${counted(theirs, 'error')} there`)
    },
    lines: () => {
      const compared = agreed + differences.length
      if (compared === 0) return []
      return [
        `compared with the package's own results: ${counted(compared, 'resource')}, ${agreed} with the same verdict, ${differences.length} with another`,
        ...differences,
      ]
    },
  }
}

function addressIn(text: string): string | undefined {
  const resource = parsedJson(text)
  const [type, id] = isObject(resource) ? [stringAt(resource, 'resourceType'), stringAt(resource, 'id')] : []
  return type === undefined || id === undefined ? undefined : `${type}/${id}`
}
