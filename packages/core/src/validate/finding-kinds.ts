import { JSON_FINDINGS } from './json-findings.js'
import { RULE_FINDINGS } from './rules/table.js'
import { defineFinding, type FindingDefinition } from './run/finding.js'

/** Reported for an expired suppression that would otherwise have hidden a finding. */
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

/** Reported for CQL that cannot be translated. */
export const CQL_ERROR: FindingDefinition = defineFinding('cql-error', 'error', 'invalid', 'Correct the CQL at this line and column.')

/** Reported for CQL that can be translated, but probably does not mean what its author intended. */
export const CQL_WARNING: FindingDefinition = defineFinding(
  'cql-warning',
  'warning',
  'business-rule',
  'Look at the CQL at this line and column.',
)

/** Reported for CQL where there is no translator. */
export const CQL_UNCHECKED: FindingDefinition = defineFinding(
  'cql-unchecked',
  'information',
  'informational',
  'Set up a translator: checkLibrary of the context.',
)

/** Every kind of finding of this library, in the order of the rules. */
export const FINDING_KINDS: Readonly<Record<string, FindingDefinition>> = Object.fromEntries(
  [...JSON_FINDINGS, SUPPRESSION_EXPIRED, UPDATE_ID, UPDATE_VERSION, CQL_ERROR, CQL_WARNING, CQL_UNCHECKED, ...RULE_FINDINGS.values()].map(
    (one) => [one.kind, one],
  ),
)
