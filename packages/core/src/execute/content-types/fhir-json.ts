import { OperationError } from '../../errors/index.js'
import { isObject, stringAt } from '../../json/index.js'
import type { BotContentType } from './content-type.js'

/**
 * `application/fhir+json`: a FHIR resource, whose type is the bot's matter. An object without `resourceType` is passed on as it is, because
 * clients send every object under this type; an object that has one must be a resource.
 */
export const fhirJson: BotContentType = {
  mediaType: 'application/fhir+json',
  also: [{ mediaType: 'application/json', write: (value) => JSON.stringify(value) }],
  read(body, parseJson) {
    const value = parseJson(body)
    if (!isObject(value)) throw new OperationError('body-structure', 'The body must be a JSON object.')
    if (Object.hasOwn(value, 'resourceType') && !isResource(value))
      throw new OperationError('body-structure', 'The resourceType must be the name of a resource type.', { expression: ['resourceType'] })
    return value
  },
  write: (value) => (isResource(value) ? JSON.stringify(value) : undefined),
}

function isResource(value: unknown): boolean {
  return isObject(value) && /^[A-Za-z]{1,64}$/.test(stringAt(value, 'resourceType') ?? '')
}
