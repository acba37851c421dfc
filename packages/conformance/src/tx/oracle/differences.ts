import { ASPECTS, type Answer } from './answers.js'

/**
 * The first aspect in which two answers differ; later differences follow from it.
 *
 * @returns `undefined` if they agree.
 */
export function differenceOf(ours: Answer, theirs: Answer): string | undefined {
  const aspect = ASPECTS.find((name) => ours[name] !== theirs[name])
  return aspect === undefined ? undefined : `${aspect}: ${ours[aspect] ?? 'none'} / ${theirs[aspect] ?? 'none'}`
}
