import { forRequest } from 'fhir-ops/context'
import { validate, type Finding, type ValidateInput } from 'fhir-ops/validate'
import type { Engine } from '../engine.js'
import type { Source } from '../load/sources.js'
import type { Checked } from './report.js'

/** What is asked of every resource. */
export type Asked = Omit<ValidateInput, 'resource'>

/** Validates a resource of a file. */
export async function checkSource(source: Source, { ctx }: Engine, asked: Asked): Promise<Checked> {
  const { valid, findings } = await validate(forRequest(ctx, {}), { ...asked, resource: source.text, places: true })
  return { source, result: { valid, findings: findings.map((finding) => inFile(finding, source)) } }
}

/** A resource may begin further down in its file. */
function inFile({ line = 1, ...finding }: Finding, source: Source): Finding {
  return { ...finding, line: line + source.line - 1 }
}
