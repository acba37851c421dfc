import { OperationError } from '../../errors/index.js'
import { isObject, stringAt } from '../../json/index.js'
import type { BotContentType } from './content-type.js'

/** `application/fhir+json`: a FHIR resource. Its type is the bot's matter. */
export const fhirJson: BotContentType = {
  mediaType: 'application/fhir+json',
  also: [{ mediaType: 'application/json', write: (value) => JSON.stringify(value) }],
  read(body, parseJson) {
    const value = parseJson(body)
    if (!isResource(value)) throw new OperationError('body-structure', 'The body must be a FHIR resource with a resourceType.')
    return value
  },
  write: (value) => (isResource(value) ? JSON.stringify(value) : undefined),
}

function isResource(value: unknown): boolean {
  return isObject(value) && /^[A-Za-z]{1,64}$/.test(stringAt(value, 'resourceType') ?? '')
}
