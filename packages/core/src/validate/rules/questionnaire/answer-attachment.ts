import { quoted } from '../../../errors/index.js'
import { isObject, isString, stringAt, type JsonObject } from '../../../json/index.js'
import { base64Length } from '../primitive/base64.js'
import { extensionValues } from '../../profile/extension-value.js'
import type { ValuedAnswer } from './check-answer.js'
import type { ResponseCheck } from './check-response.js'

const MIME_TYPE = 'http://hl7.org/fhir/StructureDefinition/mimeType'
const MAX_SIZE = 'http://hl7.org/fhir/StructureDefinition/maxSize'

/** Checks the content type and the size of an attachment. */
export function checkAttachmentLimits(check: ResponseCheck, { answer, value, item }: ValuedAnswer): void {
  if (value.type.name !== 'Attachment' || !isObject(value.value)) return
  for (const text of [typeProblem(value.value, item.json), sizeProblem(value.value, item.json)]) {
    if (text !== undefined) check.run.sink.report('answer-attachment', answer.node, { text, profile: check.form.canonical })
  }
}

function typeProblem(attachment: JsonObject, item: JsonObject): string | undefined {
  const allowed = extensionValues(item, MIME_TYPE).filter(isString)
  const contentType = stringAt(attachment, 'contentType')
  if (allowed.length === 0 || allowed.some((type) => contentType?.startsWith(type) === true)) return undefined
  const fault = contentType === undefined ? 'The attachment needs a content type' : `The content type ${quoted(contentType)} is not allowed`
  return `${fault}; allowed: ${allowed.join(', ')}.`
}

function sizeProblem(attachment: JsonObject, item: JsonObject): string | undefined {
  const max = extensionValues(item, MAX_SIZE)[0]
  const data = stringAt(attachment, 'data')
  const size = data === undefined ? attachment['size'] : base64Length(data)
  if (typeof max !== 'number' || typeof size !== 'number' || size <= max) return undefined
  return `The attachment has ${size} bytes, but at most ${max} are allowed.`
}
