import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt } from '../../../json/index.js'
import { childrenOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { readForm, type FormItem } from './form.js'

/** Checks a Questionnaire in itself: that its conditions refer to questions that can be answered before, and that what it derives from is known. */
export function checkQuestionnaire(run: Run, node: FhirNode): void {
  if (!isObject(node.value)) return
  const form = readForm('', node.value)
  checkConditions(run, node, { items: form.items, byLinkId: form.byLinkId })
  checkDerivedFrom(run, node)
}

interface Level {
  readonly items: readonly FormItem[]
  readonly byLinkId: ReadonlyMap<string, FormItem>
}

function checkConditions(run: Run, parent: FhirNode, { items, byLinkId }: Level): void {
  childrenOf(run, parent, 'item').forEach((node, index) => {
    const item = items[index]
    if (item === undefined) return
    run.step()
    for (const condition of objectsAt(item.json, 'enableWhen')) {
      const text = conditionProblem(item, stringAt(condition, 'question'), byLinkId)
      if (text !== undefined) run.sink.report('questionnaire-enable-when', node, { text })
    }
    checkConditions(run, node, { items: item.items, byLinkId })
  })
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

function checkDerivedFrom(run: Run, node: FhirNode): void {
  for (const base of childrenOf(run, node, 'derivedFrom')) {
    if (typeof base.value !== 'string' || base.value.startsWith('#')) continue
    const found = run.facts.definition('Questionnaire', base.value)
    if (found !== undefined || found === PENDING) continue
    run.sink.report('questionnaire-derived-from', base, {
      text: `The questionnaire ${quoted(base.value)} is not known here, so what derives from it is not checked.`,
    })
  }
}
