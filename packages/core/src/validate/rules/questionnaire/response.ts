import type { FhirNode } from '../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'

/** What items of a response stand in: the response itself, an item, or an answer. */
export interface Holder {
  readonly node: FhirNode
  /** Of the item, or of the item whose answer it is; absent on the response. */
  readonly linkId: string | undefined
  readonly items: readonly ResponseItem[]
  /** Empty on what is no item. */
  readonly answers: readonly Answer[]
  /** Absent on the response. */
  readonly above: Holder | undefined
}

/** An item of a QuestionnaireResponse. */
export interface ResponseItem extends Holder {
  readonly linkId: string
  readonly above: Holder
}

/** An answer with the items that follow on it. */
export interface Answer extends Holder {
  /** Absent when there are only items or extensions. */
  readonly value: FhirNode | undefined
}

/** Reads a QuestionnaireResponse. */
export function readResponse(run: Run, node: FhirNode): Holder {
  const items: ResponseItem[] = []
  const response: Holder = { node, linkId: undefined, items, answers: [], above: undefined }
  readItems(run, response, items)
  return response
}

function readItems(run: Run, above: Holder, into: ResponseItem[]): void {
  for (const node of childrenOf(run, above.node, 'item')) {
    run.step()
    const items: ResponseItem[] = []
    const answers: Answer[] = []
    const item: ResponseItem = { node, linkId: textOf(node, 'linkId') ?? '', items, answers, above }
    readItems(run, item, items)
    for (const answer of childrenOf(run, node, 'answer')) answers.push(readAnswer(run, item, answer))
    into.push(item)
  }
}

function readAnswer(run: Run, item: ResponseItem, node: FhirNode): Answer {
  const items: ResponseItem[] = []
  const [value] = childrenOf(run, node, 'value')
  const answer: Answer = { node, linkId: item.linkId, items, answers: [], above: item, value }
  readItems(run, answer, items)
  return answer
}
