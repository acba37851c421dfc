import type { FhirNode } from '../../../fhirpath/index.js'
import { childrenOf } from '../../walk/children.js'
import type { ReportCheck } from './check-report.js'

/** Checks that the score of a group fits the scoring of the measure. */
export function checkScore(check: ReportCheck, group: FhirNode): void {
  const { run, scoring } = check
  const [score] = childrenOf(run, group, 'measureScore')
  const reason = whyNone(check)
  if (reason !== undefined) {
    if (score !== undefined) run.sink.report('measure-score', score, { text: `${reason} has no scores.` })
  } else if (score === undefined) {
    if (scoring !== undefined)
      run.sink.report('measure-score', group, {
        text: `A group of a measure with the scoring ${scoring} needs a measureScore.`,
        code: 'required',
      })
  } else if (scoring !== undefined) checkValue(check, score, scoring)
}

function whyNone({ type, scoring }: ReportCheck): string | undefined {
  if (type === 'data-collection') return 'A report that collects data'
  return scoring === 'cohort' ? 'A measure with the scoring cohort' : undefined
}

/** The score of a proportion is a bare number from 0 to 1, the others have units. */
function checkValue({ run }: ReportCheck, score: FhirNode, scoring: string): void {
  const [value] = childrenOf(run, score, 'value')
  const units = ['unit', 'system', 'code'].flatMap((name) => childrenOf(run, score, name))
  const demand = (node: FhirNode, text: string): void => run.sink.report('measure-score', node, { text, code: 'required' })
  if (value === undefined) demand(score, 'A score needs a value.')
  if (scoring === 'ratio' && units.length === 0)
    run.sink.report('measure-score', score, { text: 'The score of a ratio should have a unit.', severity: 'warning', code: 'not-found' })
  if (scoring !== 'proportion') return
  if (typeof value?.value === 'number' && (value.value < 0 || value.value > 1))
    demand(value, 'The score of a proportion must be between 0 and 1.')
  for (const unit of units) run.sink.report('measure-score', unit, { text: 'The score of a proportion has no unit.' })
}
