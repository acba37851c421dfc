import { OperationError } from 'fhir-ops/errors'
import { placeOf, type ElmNode } from './elm/node.js'

/** Error for ELM that cannot be compiled: it is malformed, or refers to something that does not exist. */
export function invalidElm(node: ElmNode, message: string): OperationError {
  return new OperationError('definition-invalid', placed(node, message))
}

/** Error for ELM that is valid but not supported. */
export function unsupportedElm(node: ElmNode, message: string): OperationError {
  return new OperationError('not-supported', placed(node, message))
}

/** A run-time error of CQL: an invalid interval, more than one element where one is allowed, a `Message` of severity Error. */
export function failedEvaluation(message: string, node?: ElmNode): OperationError {
  return new OperationError('unprocessable', node === undefined ? message : placed(node, message))
}

/** Maximum length of a place in a message. A place is `12:3-12:40`, but a document may state anything. */
const MAX_PLACE = 40

function placed(node: ElmNode, message: string): string {
  const place = placeOf(node)?.slice(0, MAX_PLACE)
  return place === undefined ? message : `${message.replace(/\.$/, '')} (at ${place}).`
}
