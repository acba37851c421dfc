import { forRequest } from 'fhir-ops/context'
import { isObject, stringAt } from 'fhir-ops/internal/json'
import { validate, type Finding, type ValidateInput } from 'fhir-ops/validate'
import { otherContentIn } from '../json-fault.js'
import type { Engine } from '../engine.js'
import type { Source } from '../load/sources.js'
import type { Checked } from './report.js'

/** What is asked of every resource. */
export type Asked = Omit<ValidateInput, 'resource'>

/** Validates a resource of a file. */
export async function checkSource(source: Source, { ctx }: Engine, asked: Asked): Promise<Checked> {
  const { valid, findings } = await validate(forRequest(ctx, {}), { ...asked, resource: source.text, places: true })
  return {
    source,
    result: {
      valid,
      findings: findings.map((finding) => inFile(withContent(finding, source.text), source)),
      profiles: profilesOf(source.text),
    },
  }
}

/** A resource may begin further down in its file. */
function inFile({ line = 1, ...finding }: Finding, source: Source): Finding {
  return { ...finding, line: line + source.line - 1 }
}

/** What a file has instead of one resource says more than the character at which that is seen. */
function withContent(finding: Finding, text: string): Finding {
  const content = finding.kind === 'json-fatal' ? otherContentIn(text) : undefined
  return content === undefined ? finding : { ...finding, text: `The text is not one resource as JSON: ${content}.` }
}

/** A text that begins so and has no `meta` anywhere need not be read to know what is in it. */
const TYPE_FIRST = /^\s*\{\s*"resourceType"\s*:\s*"([A-Za-z]+)"/

function profilesOf(text: string): readonly string[] {
  const type = text.includes('"meta"') ? undefined : TYPE_FIRST.exec(text)?.[1]
  if (type !== undefined) return [type]
  const resource = parsed(text)
  const meta = isObject(resource) ? resource['meta'] : undefined
  const claimed = isObject(meta) && Array.isArray(meta['profile']) ? meta['profile'].filter((one) => typeof one === 'string') : []
  return claimed.length > 0 ? claimed : [(isObject(resource) ? stringAt(resource, 'resourceType') : undefined) ?? 'unreadable']
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
