/** Where a leaf of a message is; every number counts from 1. */
export interface Hl7Path {
  readonly segment: string
  /** Which of the segments of that name. */
  readonly occurrence: number
  readonly field: number
  readonly repetition: number
  readonly component: number
  readonly subcomponent: number
}

const PATH = /^([A-Z][A-Z0-9]{2})(?:\[(\d{1,5})\])?[-.](\d{1,4})(?:\[(\d{1,4})\])?(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?$/

/**
 * Reads a path like `PID-3[2].4.1` or `PID.3[2].4.1`: segment, `[occurrence]`, field, `[repetition]`, component, subcomponent. What is
 * left out is 1, as HL7 lets a receiver that expects less structure read the first part.
 *
 * @throws {TypeError} When the path has another form or a number is 0.
 */
export function readPath(path: string): Hl7Path {
  const match = PATH.exec(path)
  const [occurrence = 1, field = 1, repetition = 1, component = 1, subcomponent = 1] = (match ?? [])
    .slice(2)
    .map((part) => Number(part ?? 1))
  const numbers = { occurrence, field, repetition, component, subcomponent }
  if (match?.[1] === undefined || Object.values(numbers).includes(0))
    throw new TypeError(`${JSON.stringify(path)} is not an HL7 path like PID-3[2].4.1.`)
  return { segment: match[1], ...numbers }
}
