import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { objectAt, stringAt } from '../../../json/index.js'
import { textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import type { Work } from '../../../work/index.js'
import { compareValues } from '../value/check-limits.js'
import { checkItems } from './check-items.js'
import { formOf, type Form } from './form.js'
import { readResponse } from './response.js'

/** What the rules of questionnaires work with. */
export interface ResponseCheck {
  readonly run: Run
  readonly form: Form
  /** While a response is being filled in, what is missing is only a warning. */
  readonly isUnfinished: boolean
}

/** Checks a QuestionnaireResponse against its questionnaire, where that is known. */
export function* checkResponse(run: Run, node: FhirNode): Work<void> {
  const form = formOf(run, node)
  if (form === undefined) return
  checkPeriod(run, node, form)
  const status = textOf(node, 'status')
  const check = { run, form, isUnfinished: status !== 'completed' && status !== 'amended' }
  yield* checkItems(check, yield* readResponse(run, node), form.items)
}

/** A questionnaire may say when it is in use. */
function checkPeriod(run: Run, node: FhirNode, { resource }: Form): void {
  const authored = textOf(node, 'authored')
  const period = objectAt(resource, 'effectivePeriod')
  if (authored === undefined || period === undefined) return
  const [start, end] = [stringAt(period, 'start'), stringAt(period, 'end')]
  if (start !== undefined && (compareValues(authored, start) ?? 0) < 0) {
    run.sink.report('questionnaire-period', node, {
      text: `The response is of ${quoted(authored)}, but the questionnaire is in use only from ${start}.`,
      at: 'authored',
    })
  }
  if (end !== undefined && (compareValues(authored, end) ?? 0) > 0) {
    run.sink.report('questionnaire-period', node, {
      text: `The response is of ${quoted(authored)}, but the questionnaire was in use only until ${end}.`,
      at: 'authored',
    })
  }
}
