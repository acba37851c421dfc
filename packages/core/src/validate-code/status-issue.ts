import type { MessageId, StatusNote } from '../terminology/index.js'
import { issueOf, type ValidationIssue } from './validation-issue.js'

const MESSAGES: Readonly<Record<StatusNote['status'], MessageId>> = {
  draft: 'MSG_DRAFT',
  experimental: 'MSG_EXPERIMENTAL',
  deprecated: 'MSG_DEPRECATED',
  withdrawn: 'MSG_WITHDRAWN',
  retired: 'MSG_RETIRED',
}

/** The note that a definition in use is a draft, an experiment, deprecated or withdrawn. */
export function statusMessage({ status, type, canonical }: StatusNote): ValidationIssue {
  return issueOf(MESSAGES[status], { type, canonical })
}
