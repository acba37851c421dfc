import type { BotContentType } from './content-type.js'
import { fhirJson } from './fhir-json.js'
import { form } from './form.js'
import { hl7v2 } from './hl7v2.js'
import { json } from './json.js'
import { text } from './text.js'

/** Every content type (INTERFACE.md 4.6). A returned value is of the first kind that can write it. */
export const BOT_CONTENT_TYPES: readonly BotContentType[] = [text, hl7v2, form, fhirJson, json]
