import { isObject, objectAt, stringAt } from 'fhir-ops/json'
import { version } from './version.js'
import type { ReleaseFile } from './release-file.js'

/** What is imported. A run goes on with what an earlier one has made only when all of this is the same. */
export interface ImportSource {
  /** System and version, for people too. */
  readonly release: string
  /** Other options that decide what is made. */
  readonly options?: readonly string[] | undefined
  /** The files that are read. */
  readonly files: readonly ReleaseFile[]
}

/** Describes a source by the content of its files, as a text that is kept. */
export async function describeSource({ release, options = [], files }: ImportSource): Promise<string> {
  const marks: [string, string][] = []
  for (const file of files) marks.push([file.name, await file.mark()])
  return JSON.stringify({ program: version(), release, options: options.join(' '), files: Object.fromEntries(marks) })
}

/** Says in which way two sources that were described differ. */
export function differenceBetween(before: string, now: string): string {
  const [a, b]: readonly unknown[] = [JSON.parse(before), JSON.parse(now)]
  if (!isObject(a) || !isObject(b)) return 'It was written by another version of the program'
  if (a['program'] !== b['program']) return `It was written by version ${stringAt(a, 'program')} of the program`
  if (a['release'] !== b['release']) return `It was for ${stringAt(a, 'release')}`
  if (a['options'] !== b['options']) return 'The options are different'
  const [old, current] = [new Map(Object.entries(objectAt(a, 'files') ?? {})), new Map(Object.entries(objectAt(b, 'files') ?? {}))]
  const changed = [...old.keys(), ...current.keys()].find((name) => old.get(name) !== current.get(name))
  return `The file ${changed} has changed`
}
