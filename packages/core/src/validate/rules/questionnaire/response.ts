import type { FhirNode } from '../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import type { Work } from '../../../work/index.js'

/** What items of a response stand in: the response itself, an item, or an answer. */
export interface Holder {
  readonly node: FhirNode
  /** Of the item, or of the item whose answer it is; absent on the response. */
  readonly linkId: string | undefined
  readonly items: readonly ResponseItem[]
  readonly byLinkId: ReadonlyMap<string, readonly ResponseItem[]>
  /** Empty on what is not an item. */
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
export function* readResponse(run: Run, node: FhirNode): Work<Holder> {
  const parts = emptyParts()
  const response: Holder = { node, linkId: undefined, answers: [], above: undefined, ...parts }
  yield* readItems(run, response, parts)
  return response
}

/** What is filled once the holder is there for its items to point at. */
interface Parts {
  readonly items: ResponseItem[]
  readonly byLinkId: Map<string, ResponseItem[]>
}

function emptyParts(): Parts {
  return { items: [], byLinkId: new Map() }
}

function* readItems(run: Run, above: Holder, into: Parts): Work<void> {
  for (const node of childrenOf(run, above.node, 'item')) {
    run.step()
    yield
    const parts = emptyParts()
    const answers: Answer[] = []
    const item: ResponseItem = { node, linkId: textOf(node, 'linkId') ?? '', answers, above, ...parts }
    yield* readItems(run, item, parts)
    for (const answer of childrenOf(run, node, 'answer')) answers.push(yield* readAnswer(run, item, answer))
    into.items.push(item)
    const same = into.byLinkId.get(item.linkId)
    if (same === undefined) into.byLinkId.set(item.linkId, [item])
    else same.push(item)
  }
}

function* readAnswer(run: Run, item: ResponseItem, node: FhirNode): Work<Answer> {
  const parts = emptyParts()
  const [value] = childrenOf(run, node, 'value')
  const answer: Answer = { node, linkId: item.linkId, answers: [], above: item, value, ...parts }
  yield* readItems(run, answer, parts)
  return answer
}
