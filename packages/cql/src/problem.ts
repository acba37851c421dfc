import { OperationError } from 'fhir-ops/errors'
import { placeOf, type ElmNode } from './elm/node.js'

/** ELM that cannot be compiled: malformed, or something named that is not there. */
export function invalidElm(node: ElmNode, message: string): OperationError {
  return new OperationError('definition-invalid', placed(node, message))
}

/** ELM that is understood and refused. */
export function unsupportedElm(node: ElmNode, message: string): OperationError {
  return new OperationError('not-supported', placed(node, message))
}

/** A run-time error of CQL: an invalid interval, more than one element where one is allowed, a `Message` of severity Error. */
export function failedEvaluation(message: string, node?: ElmNode): OperationError {
  return new OperationError('unprocessable', node === undefined ? message : placed(node, message))
}

function placed(node: ElmNode, message: string): string {
  const place = placeOf(node)
  return place === undefined ? message : `${message.replace(/\.$/, '')} (at ${place}).`
}
