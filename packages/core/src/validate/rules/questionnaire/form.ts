import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { containedOf } from '../reference/resolve-locally.js'

/** An item of a Questionnaire. */
export interface FormItem {
  readonly json: JsonObject
  readonly linkId: string
  readonly type: string
  readonly required: boolean
  readonly repeats: boolean
  readonly items: readonly FormItem[]
  /** Absent on items of the questionnaire itself. */
  readonly parent: FormItem | undefined
}

/** A Questionnaire as its responses are checked against it. */
export interface Form {
  readonly canonical: string
  readonly resource: JsonObject
  readonly items: readonly FormItem[]
  readonly byLinkId: ReadonlyMap<string, FormItem>
  /** The resources that a `#id` in it can mean. */
  readonly contained: readonly JsonObject[]
}

const EXAMPLE = /^https?:\/\/example\.org(?:\/|$)/

/** The questionnaire of a response: a contained one or one that is known here. Says so when there is none. */
export function formOf(run: Run, response: FhirNode): Form | undefined {
  const canonical = textOf(response, 'questionnaire')
  if (canonical === undefined) {
    const text = 'The response names no questionnaire, so the answers are not checked.'
    run.sink.report('questionnaire-unknown', response, { text, severity: 'information' })
    return undefined
  }
  const resource = canonical.startsWith('#')
    ? containedForm(run, response, canonical.slice(1))
    : run.facts.definition('Questionnaire', canonical)
  if (resource === PENDING) return undefined
  if (resource !== undefined) return readForm(canonical, resource, containerValue(response))
  run.sink.report('questionnaire-unknown', response, {
    text: `The questionnaire ${quoted(canonical)} is not known here, so the answers are not checked against it.`,
    ...(EXAMPLE.test(canonical) && { severity: 'information' }),
  })
  return undefined
}

function containedForm(run: Run, response: FhirNode, id: string): JsonObject | undefined {
  const found = containedOf(run, response, id)
  return found?.type.name === 'Questionnaire' && isObject(found.value) ? found.value : undefined
}

function containerValue({ value }: FhirNode): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** Reads a Questionnaire; of several items with one linkId the first counts. */
export function readForm(canonical: string, resource: JsonObject, container?: JsonObject): Form {
  const byLinkId = new Map<string, FormItem>()
  const items = readItems(resource, undefined, byLinkId)
  return { canonical, resource, items, byLinkId, contained: [...objectsAt(resource, 'contained'), ...objectsAt(container, 'contained')] }
}

function readItems(holder: JsonObject, parent: FormItem | undefined, byLinkId: Map<string, FormItem>): readonly FormItem[] {
  return objectsAt(holder, 'item').map((json) => {
    const items: FormItem[] = []
    const item: FormItem = {
      json,
      linkId: stringAt(json, 'linkId') ?? '',
      type: stringAt(json, 'type') ?? '',
      required: json['required'] === true,
      repeats: json['repeats'] === true,
      items,
      parent,
    }
    if (!byLinkId.has(item.linkId)) byLinkId.set(item.linkId, item)
    items.push(...readItems(json, item, byLinkId))
    return item
  })
}
