import type { OperationOutcome, OperationOutcomeIssue } from 'fhir/r4.js'
import { explanationExtension } from '../explain/index.js'
import { ERRORS, OperationError, type OutcomeIssue } from './operation-error.js'

const TX_ISSUE_TYPE = 'http://hl7.org/fhir/tools/CodeSystem/tx-issue-type'
const MESSAGE_ID = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-message-id'

/** Creates the OperationOutcome of a success without further content: id `ok`, one issue `All OK`. */
export function outcomeOk(): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    id: 'ok',
    issue: [{ severity: 'information', code: 'informational', details: { text: 'All OK' } }],
  }
}

/**
 * Creates the OperationOutcome that describes an error to the caller.
 *
 * @param id Generated identifier of the outcome.
 * @throws {TypeError} for any other error, because its message may not be meant for callers.
 */
export function outcomeOf(error: OperationError, id: string): OperationOutcome {
  if (!(error instanceof OperationError)) throw new TypeError('outcomeOf takes an OperationError: other messages may not be for callers.')
  const { txIssue, messageId, diagnostics, issue, issues = [], explanation, omitsPlace } = error.detail
  const extension = explanationExtension(explanation)
  return {
    resourceType: 'OperationOutcome',
    id,
    ...(extension.length > 0 && { extension }),
    issue: [
      writeIssue({
        severity: 'error',
        code: issue ?? ERRORS[error.code].issue,
        text: error.message,
        ...(omitsPlace !== true && placesIn(error)),
        ...(txIssue !== undefined && { txIssue }),
        ...(messageId !== undefined && { messageId }),
        ...(diagnostics !== undefined && { diagnostics }),
      }),
      ...issues.map(writeIssue),
    ],
  }
}

/** Longer than any path of elements, except one with a name that the caller chose. */
const MAX_PLACE = 200

function shortPlace(place: string): string {
  return place.length > MAX_PLACE ? `${place.slice(0, MAX_PLACE - 1).toWellFormed()}…` : place.toWellFormed()
}

/** Characters that FHIR strings must not have. */
const CONTROL = /[\0-\x08\v\f\x0e-\x1f]/g

/** Returns the expressions of an error as valid FHIR strings: parameter names come from the caller and may be blank or have control characters. */
function placesIn({ expression }: OperationError): { readonly expression?: string[] } {
  const places = expression.map((place) => shortPlace(place).replaceAll(CONTROL, '\uFFFD')).filter((place) => place.trim() !== '')
  return places.length > 0 ? { expression: places } : {}
}

/** Writes one issue as FHIR. */
export function writeIssue(issue: OutcomeIssue): OperationOutcomeIssue {
  return {
    ...(issue.messageId !== undefined && { extension: [{ url: MESSAGE_ID, valueString: issue.messageId }] }),
    severity: issue.severity,
    code: issue.code,
    details: {
      ...(issue.txIssue !== undefined && { coding: [{ system: TX_ISSUE_TYPE, code: issue.txIssue }] }),
      text: issue.text,
    },
    ...(issue.diagnostics !== undefined && { diagnostics: issue.diagnostics }),
    ...(issue.expression !== undefined && { expression: [...issue.expression] }),
  }
}
