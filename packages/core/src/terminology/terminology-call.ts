import { forRequest, type OperationContext } from '../context/index.js'
import type { OperationRequest } from '../operation/index.js'
import { parameterReader, type ParameterReader } from '../parameters/index.js'
import { ignoreUnknown, readTxResources } from './request-input.js'

/** A call of a terminology operation as plain values. */
export interface TerminologyCall<Input> {
  /** Finds the resources that came with the call, too. */
  readonly ctx: OperationContext
  readonly input: Input
}

/** Reads the inputs of one operation. @throws {OperationError} for what is missing or malformed. */
export type InputReader<Input> = (ctx: OperationContext, request: OperationRequest, reader: ParameterReader) => Input | Promise<Input>

/** Reads a call: what every terminology operation takes, and by `read` the operation's own inputs. @throws {OperationError} as `read`. */
export async function readTerminologyCall<Input>(
  base: OperationContext,
  request: OperationRequest,
  read: InputReader<Input>,
): Promise<TerminologyCall<Input>> {
  const reader = parameterReader(request.parameters)
  const ctx = forRequest(base, { resources: readTxResources(reader) })
  const input = await read(ctx, request, reader)
  ignoreUnknown(request, reader)
  return { ctx, input }
}
