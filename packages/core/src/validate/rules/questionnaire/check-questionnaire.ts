import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt } from '../../../json/index.js'
import { childrenOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import type { Work } from '../../../work/index.js'
import { checkBindingParameters } from './binding-parameters.js'
import { typeProblem } from './check-answer.js'
import { checkDerivedFrom } from './check-derived-from.js'
import { readForm, type FormItem } from './form.js'

/**
 * Checks a Questionnaire in itself: that its conditions refer to questions that can be answered before, that initial values are of the type
 * of their item, and that what it derives from is known.
 */
export function* checkQuestionnaire(run: Run, node: FhirNode): Work<void> {
  if (!isObject(node.value)) return
  const form = readForm('', node.value)
  const order = new Map([...form.byLinkId.values()].map((item, position) => [item, position]))
  checkUnique(run, node, form.items)
  yield
  yield* checkItems(run, node, { items: form.items, byLinkId: form.byLinkId, order })
  checkDerivedFrom(run, node)
}

/** que-2 */
function checkUnique(run: Run, node: FhirNode, items: readonly FormItem[]): void {
  const linkIds = linkIdsIn(items)
  if (new Set(linkIds).size < linkIds.length)
    run.sink.report('invariant', node, { text: 'que-2: The link ids for groups and questions must be unique within the questionnaire' })
}

function linkIdsIn(items: readonly FormItem[]): readonly string[] {
  return items.flatMap((item) => [...(item.linkId === '' ? [] : [item.linkId]), ...linkIdsIn(item.items)])
}

interface Level {
  readonly items: readonly FormItem[]
  readonly byLinkId: ReadonlyMap<string, FormItem>
  /** The places of the items in the questionnaire. */
  readonly order: ReadonlyMap<FormItem, number>
}

function* checkItems(run: Run, parent: FhirNode, { items, ...level }: Level): Work<void> {
  for (const [index, node] of childrenOf(run, parent, 'item').entries()) {
    const item = items[index]
    if (item === undefined) continue
    checkConditions(run, node, { item, ...level })
    checkInitial(run, node, item)
    checkBindingParameters(run, node)
    yield
    yield* checkItems(run, node, { items: item.items, ...level })
  }
}

function checkConditions(run: Run, node: FhirNode, { item, byLinkId, order }: Omit<Level, 'items'> & { item: FormItem }): void {
  for (const condition of objectsAt(item.json, 'enableWhen')) {
    const linkId = stringAt(condition, 'question')
    const text = conditionProblem(item, linkId, byLinkId)
    if (text !== undefined) run.sink.report('questionnaire-enable-when', node, { text })
    else if (isAfter(byLinkId.get(linkId ?? ''), { item, order })) {
      const late = `The condition refers to the question ${quoted(linkId ?? '')}, which comes after the item.`
      run.sink.report('questionnaire-enable-when', node, { text: late, severity: 'warning' })
    }
  }
}

function isAfter(question: FormItem | undefined, { item, order }: { item: FormItem; order: ReadonlyMap<FormItem, number> }): boolean {
  return question !== undefined && (order.get(question) ?? 0) > (order.get(item) ?? 0)
}

function checkInitial(run: Run, node: FhirNode, item: FormItem): void {
  for (const initial of childrenOf(run, node, 'initial')) {
    const [value] = childrenOf(run, initial, 'value')
    const text = value === undefined ? undefined : typeProblem(value, item)
    if (value !== undefined && text !== undefined) run.sink.report('answer-type', value, { text })
  }
}

function conditionProblem(item: FormItem, linkId: string | undefined, byLinkId: ReadonlyMap<string, FormItem>): string | undefined {
  if (linkId === undefined) return undefined
  const question = byLinkId.get(linkId)
  if (question === undefined) return `The condition refers to the question ${quoted(linkId)}, which the questionnaire does not have.`
  if (question === item) return `The condition refers to the item ${quoted(linkId)} itself.`
  if (isWithin(question, item))
    return `The condition refers to the question ${quoted(linkId)}, which is in the item and so can only be answered when it holds.`
  return undefined
}

function isWithin(item: FormItem, outer: FormItem): boolean {
  for (let current = item.parent; current !== undefined; current = current.parent) if (current === outer) return true
  return false
}
