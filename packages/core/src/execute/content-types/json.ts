import { OperationError } from '../../errors/index.js'
import { isObject } from '../../json/index.js'
import type { BotContentType } from './content-type.js'

/** `application/json`: an object as input, any JSON value as output. */
export const json: BotContentType = {
  mediaType: 'application/json',
  also: [],
  read(body, parseJson) {
    const value = parseJson(body)
    if (!isObject(value)) throw new OperationError('body-structure', 'The body must be a JSON object.')
    return value
  },
  write: (value) => JSON.stringify(value),
}
