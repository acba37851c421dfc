import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { childrenOf } from '../../walk/children.js'
import type { ReportCheck } from './check-report.js'

/** Checks that the score of a group fits the scoring of the measure. */
export function checkScore(check: ReportCheck, group: FhirNode): void {
  const { run, scoring } = check
  const [score] = childrenOf(run, group, 'measureScore')
  const reason = whyNone(check)
  const say = (at: FhirNode, text: string): void => run.sink.report('measure-score', at, { text })
  if (reason !== undefined) {
    if (score !== undefined) say(score, `${reason} has no scores.`)
  } else if (score !== undefined) {
    if (scoring === 'proportion' && !isProportion(score)) say(score, 'The score of a proportion must be between 0 and 1.')
  } else if (scoring !== undefined) {
    say(group, `A group of a measure with the scoring ${scoring} needs a measureScore.`)
  }
}

function whyNone({ type, scoring }: ReportCheck): string | undefined {
  if (type === 'data-collection') return 'A report that collects data'
  return scoring === 'cohort' ? 'A measure with the scoring cohort' : undefined
}

function isProportion({ value: score }: FhirNode): boolean {
  const value = isObject(score) ? score['value'] : undefined
  return typeof value !== 'number' || (value >= 0 && value <= 1)
}
