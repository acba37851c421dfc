import { ERRORS, OperationError, type ErrorCode } from '../errors/index.js'
import { MESSAGES, messageText, type MessageId, type MessageValues } from './messages.js'

/** Where a refusal points to, and which failure it is when that cannot be seen from the message. */
export interface RefusalOptions {
  readonly code?: ErrorCode
  readonly expression?: readonly string[]
  /** Advice beside the message. */
  readonly diagnostics?: string
}

/** The failure codes that issue types of messages stand for. */
const CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['not-found', 'content-not-found'],
  ['invalid', 'definition-invalid'],
  ['too-costly', 'too-costly'],
  ['not-supported', 'not-supported'],
])

/** The error with which an operation that cannot be carried out ends, worded by the table of messages. */
export function refusal(id: MessageId, values: MessageValues, options: RefusalOptions = {}): OperationError {
  const row = MESSAGES[id]
  const [, issue, type] = row
  const code = options.code ?? CODES.get(issue) ?? 'unprocessable'
  return new OperationError(code, messageText(row, values), {
    messageId: id,
    ...(type !== undefined && { txIssue: type }),
    ...(ERRORS[code].issue !== issue && { issue }),
    ...(options.expression !== undefined && { expression: options.expression }),
    ...(options.diagnostics !== undefined && { diagnostics: options.diagnostics }),
  })
}
