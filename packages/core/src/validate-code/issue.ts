import type { OutcomeIssue } from '../errors/index.js'
import { messageText, type MessageValues, type StatusNote } from '../terminology/index.js'
import { isInMessage, messageRow, type ValidationMessageId } from './messages.js'

/** One finding about a code. */
export interface ValidationIssue extends OutcomeIssue {
  /** True when the text is part of the answer's `message`. */
  readonly inMessage: boolean
}

/** How an issue differs from its row in the table of messages. */
export interface IssueOptions {
  /** FHIRPath of the element; absent when it is about the whole. */
  readonly at?: string
  readonly severity?: OutcomeIssue['severity']
  readonly type?: string
}

/** Makes an issue from the table of messages. One that became a warning stays in the answer's `message`, one that became an information does not. */
export function issueOf(id: ValidationMessageId, values: MessageValues, options: IssueOptions = {}): ValidationIssue {
  const row = messageRow(id)
  const [usual, code, usualType] = row
  const { type = usualType, severity = usual } = options
  return {
    severity,
    code,
    text: messageText(row, values),
    messageId: id,
    inMessage: isInMessage(id) && (severity !== 'information' || usual === 'information'),
    ...(type !== undefined && { txIssue: type }),
    ...(options.at !== undefined && { expression: [options.at] }),
  }
}

/** An information that is not in the table of messages. */
export function noteOf(text: string, at: string, kind: Pick<OutcomeIssue, 'code' | 'txIssue'>): ValidationIssue {
  return { severity: 'information', text, expression: [at], inMessage: false, ...kind }
}

/** The FHIRPath of a member of a coding; the coding itself when `member` is empty. */
export function placeIn(path: string, member: string): string {
  return path === '' || member === '' ? `${path}${member}` : `${path}.${member}`
}

const STATUS_MESSAGES: Readonly<Record<StatusNote['status'], ValidationMessageId>> = {
  draft: 'MSG_DRAFT',
  experimental: 'MSG_EXPERIMENTAL',
  deprecated: 'MSG_DEPRECATED',
  withdrawn: 'MSG_WITHDRAWN',
  retired: 'MSG_RETIRED',
}

/** The note that a definition in use is a draft, experimental, deprecated, withdrawn or retired. */
export function statusIssue({ status, type, canonical }: StatusNote): ValidationIssue {
  return issueOf(STATUS_MESSAGES[status], { type, canonical })
}
