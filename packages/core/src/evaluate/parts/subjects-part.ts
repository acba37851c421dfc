import { OperationError } from '../../errors/index.js'

/** One part of all subjects. */
export interface SubjectsPart {
  /** Its number, from 1. */
  readonly part: number
  /** The number of parts, at most 1,000. */
  readonly of: number
}

const MAX_PARTS = 1_000

/** @param input The input that the error names. @throws {OperationError} `parameter-value` for a part that does not exist. */
export function checkPart({ part, of }: SubjectsPart, input = 'part'): void {
  const isPart = Number.isInteger(part) && Number.isInteger(of) && part >= 1 && part <= of && of <= MAX_PARTS
  if (isPart) return
  throw new OperationError(
    'parameter-value',
    `There is no part ${part} of ${of}: parts are numbered from 1, and there are at most 1,000.`,
    {
      expression: [input],
    },
  )
}

/**
 * Whether a subject is in a part. Only its id decides, so that all processes that evaluate parts agree, whatever their storage and whatever is written
 * meanwhile.
 */
export function isInPart(id: string, { part, of }: SubjectsPart): boolean {
  return hashOf(id) % of === part - 1
}

/** FNV-1a with 32 bits and final mixing, so that ids that differ only in their last digits are spread, too. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
