import { JSON_FINDINGS } from './json-findings.js'
import { RULE_FINDINGS } from './rules/table.js'
import { defineFinding, type FindingDefinition } from './run/finding.js'

/** Reported for a suppression that would have hidden something. */
export const SUPPRESSION_EXPIRED: FindingDefinition = defineFinding(
  'suppression-expired',
  'warning',
  'business-rule',
  'Fix what was suppressed, or extend the suppression.',
)

/** Reported by the mode `update` about the id. */
export const UPDATE_ID: FindingDefinition = defineFinding(
  'update-id',
  'error',
  'invalid',
  'Give the resource the id of the resource to update.',
)

/** Reported by the mode `update` about the version. */
export const UPDATE_VERSION: FindingDefinition = defineFinding(
  'update-version',
  'warning',
  'conflict',
  'Start from the current version of the resource.',
)

/** Every kind of finding of this library by its name, in the order of the rules. */
export const FINDING_KINDS: Readonly<Record<string, FindingDefinition>> = Object.fromEntries(
  [...JSON_FINDINGS, SUPPRESSION_EXPIRED, UPDATE_ID, UPDATE_VERSION, ...RULE_FINDINGS.values()].map((one) => [one.kind, one]),
)
