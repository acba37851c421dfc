import { writeIssue } from '../errors/index.js'
import { explanationParameter } from '../explain/index.js'
import type { JsonObject } from '../json/index.js'
import type { Validation } from './validation.js'

/** Writes an answer as Parameters. */
export function writeValidation(validation: Validation): JsonObject {
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'result', valueBoolean: validation.result },
      ...valueOf('code', 'Code', validation.code),
      ...valueOf('system', 'Uri', validation.system),
      ...valueOf('version', 'String', validation.version),
      ...valueOf('display', 'String', validation.display),
      ...valueOf('codeableConcept', 'CodeableConcept', validation.concept),
      ...valueOf('inactive', 'Boolean', validation.inactive),
      ...valueOf('status', 'Code', validation.status),
      ...valueOf('normalized-code', 'Code', validation.normalizedCode),
      ...validation.unknownSystems.flatMap((canonical) => valueOf(unknownName(validation), 'Canonical', canonical)),
      ...valueOf('message', 'String', messageOf(validation)),
      ...issuesOf(validation),
      ...explanationParameter(validation.explanation),
    ],
  }
}

/** The texts of what decided, joined; `undefined` when nothing did. */
export function messageOf({ issues }: Validation): string | undefined {
  const texts = new Set(issues.filter(({ inMessage }) => inMessage).map(({ text }) => text))
  return texts.size === 0 ? undefined : [...texts].join('; ')
}

function unknownName({ causedByUnknown }: Validation): string {
  return causedByUnknown ? 'x-caused-by-unknown-system' : 'x-unknown-system'
}

function valueOf(name: string, type: string, value: unknown): readonly JsonObject[] {
  return value === undefined ? [] : [{ name, [`value${type}`]: value }]
}

function issuesOf({ issues }: Validation): readonly JsonObject[] {
  if (issues.length === 0) return []
  return [{ name: 'issues', resource: { resourceType: 'OperationOutcome', issue: issues.map(writeIssue) } }]
}
