import type { IssueSeverity, OutcomeIssue } from '../errors/index.js'

interface KindRow {
  readonly severity: IssueSeverity
  readonly code: OutcomeIssue['code']
}

/** Every kind of finding with its usual severity and issue type. Adding a kind is a minor release, removing one a major. */
export const FINDING_KINDS = {
  // JSON
  'json-fatal': { severity: 'fatal', code: 'invalid' },
  'json-comment': { severity: 'error', code: 'invalid' },
  'json-comma': { severity: 'error', code: 'invalid' },
  'json-quotes': { severity: 'error', code: 'invalid' },
  'json-duplicate': { severity: 'error', code: 'invalid' },
  'json-number': { severity: 'error', code: 'invalid' },
  'json-string': { severity: 'error', code: 'invalid' },
  // The validation itself
  'findings-cut': { severity: 'warning', code: 'too-costly' },
  // Structure
  'unknown-property': { severity: 'error', code: 'structure' },
  'unknown-resource-type': { severity: 'error', code: 'structure' },
  'array-expected': { severity: 'error', code: 'invalid' },
  'array-not-allowed': { severity: 'error', code: 'invalid' },
  'object-expected': { severity: 'error', code: 'invalid' },
  'null-not-allowed': { severity: 'error', code: 'invalid' },
  'empty-array': { severity: 'error', code: 'invalid' },
  'empty-object': { severity: 'error', code: 'invalid' },
  'several-choices': { severity: 'error', code: 'structure' },
  'too-few': { severity: 'error', code: 'structure' },
  'too-many': { severity: 'error', code: 'structure' },
  'type-not-allowed': { severity: 'error', code: 'structure' },
  // Primitive values
  'primitive-type': { severity: 'error', code: 'invalid' },
  'primitive-form': { severity: 'error', code: 'invalid' },
  'primitive-empty': { severity: 'error', code: 'invalid' },
  'primitive-range': { severity: 'warning', code: 'invalid' },
  'primitive-space': { severity: 'warning', code: 'invalid' },
  'primitive-too-long': { severity: 'error', code: 'invalid' },
  'id-form': { severity: 'error', code: 'invalid' },
  'uri-form': { severity: 'error', code: 'invalid' },
  // Rules of profiles
  'value-fixed': { severity: 'error', code: 'value' },
  'value-pattern': { severity: 'error', code: 'value' },
  'value-limit': { severity: 'error', code: 'invalid' },
  'slice-unmatched': { severity: 'information', code: 'informational' },
  'slice-closed': { severity: 'error', code: 'invalid' },
  'slice-order': { severity: 'error', code: 'invalid' },
  'slice-several': { severity: 'error', code: 'invalid' },
  'profile-unknown': { severity: 'warning', code: 'structure' },
  'profile-type': { severity: 'error', code: 'structure' },
  'profile-broken': { severity: 'error', code: 'exception' },
  'profile-choice': { severity: 'error', code: 'structure' },
  'profile-applied': { severity: 'information', code: 'informational' },
  invariant: { severity: 'error', code: 'invariant' },
  // Codes
  'code-not-in-value-set': { severity: 'error', code: 'code-invalid' },
  'value-set-unknown': { severity: 'warning', code: 'code-invalid' },
  'code-unknown': { severity: 'error', code: 'code-invalid' },
  'code-system-unknown': { severity: 'warning', code: 'not-found' },
  'code-system-version': { severity: 'warning', code: 'not-found' },
  'coding-system-missing': { severity: 'warning', code: 'invalid' },
  'coding-system-form': { severity: 'error', code: 'invalid' },
  'display-wrong': { severity: 'error', code: 'invalid' },
  'code-inactive': { severity: 'warning', code: 'business-rule' },
  'code-system-status': { severity: 'information', code: 'business-rule' },
  // Parts of resources
  'extension-unknown': { severity: 'error', code: 'structure' },
  'extension-context': { severity: 'error', code: 'structure' },
  'extension-modifier': { severity: 'error', code: 'structure' },
  'extension-url': { severity: 'error', code: 'structure' },
  'narrative-language': { severity: 'warning', code: 'business-rule' },
  narrative: { severity: 'error', code: 'invalid' },
  reference: { severity: 'error', code: 'structure' },
  contained: { severity: 'error', code: 'invalid' },
  attachment: { severity: 'error', code: 'structure' },
  identifier: { severity: 'error', code: 'invalid' },
  // Questionnaires and their responses
  'questionnaire-unknown': { severity: 'warning', code: 'required' },
  'questionnaire-period': { severity: 'warning', code: 'business-rule' },
  'questionnaire-enable-when': { severity: 'error', code: 'business-rule' },
  'questionnaire-derived-from': { severity: 'warning', code: 'business-rule' },
  'link-id-unknown': { severity: 'error', code: 'not-found' },
  'link-id-place': { severity: 'error', code: 'structure' },
  'item-structure': { severity: 'error', code: 'structure' },
  'item-disabled': { severity: 'error', code: 'invalid' },
  'item-repeated': { severity: 'error', code: 'invalid' },
  'answer-missing': { severity: 'error', code: 'required' },
  'answer-count': { severity: 'error', code: 'invalid' },
  'answer-type': { severity: 'error', code: 'invariant' },
  'answer-limit': { severity: 'error', code: 'invariant' },
  'answer-attachment': { severity: 'error', code: 'required' },
  'answer-unit': { severity: 'error', code: 'invariant' },
  'answer-option': { severity: 'error', code: 'invariant' },
  'answer-options-unknown': { severity: 'information', code: 'invariant' },
  'answer-code': { severity: 'error', code: 'code-invalid' },
  'answer-target': { severity: 'error', code: 'invariant' },
} as const satisfies Readonly<Record<string, KindRow>>

/** The stable names of findings. */
export type FindingKind = keyof typeof FINDING_KINDS
