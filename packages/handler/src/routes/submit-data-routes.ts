import { canonicalOf } from 'fhir-ops/internal/content'
import { createPace, type Pace } from 'fhir-ops/internal/context'
import { OperationError, quoted } from 'fhir-ops/internal/errors'
import { isObject, jsonItems, jsonMembers, stringAt, stringValue, valuesByName, type JsonObject } from 'fhir-ops/internal/json'
import { storedInstance } from 'fhir-ops/internal/operation'
import { isResourceId } from 'fhir-ops/storage'
import { authorizeAny } from '../auth/caller.js'
import { withoutHidden } from '../content/reach.js'
import { runBundle } from '../content/bundle/bundle.js'
import type { EntryRunner } from '../content/bundle/bundle-entries.js'
import type { Exchange, Route } from '../exchange.js'
import type { Answer } from '../http/answer.js'
import { FHIR_PATH, type Service } from '../service.js'

/**
 * `Measure/$submit-data`: stores a report of type data-collection and its resources in one transaction.
 *
 * @see https://hl7.org/fhir/R4/measure-operation-submit-data.html
 */
export function submitDataRoutes(service: Service, runner: EntryRunner): readonly Route[] {
  return ['', ':id/'].map((level): Route => ({
    method: 'POST',
    path: `${FHIR_PATH}/:type/${level}$submit-data`,
    types: ['Measure'],
    access: 'token',
    body: 'fhir',
    answer: { resource: 'Bundle' },
    needs: 'Measure.r, and what storing the report and each resource needs',
    summary: 'Stores collected data',
    operation: { name: '$submit-data', definition: 'http://hl7.org/fhir/OperationDefinition/Measure-submit-data' },
    authorize: ({ caller, params }) => authorizeAny(caller, [{ action: 'read', type: 'Measure', id: params.get('id') }]),
    run: async (exchange) => submitData(service, await withoutHidden(exchange), runner),
  }))
}

/** Executes the submission as a transaction: the checks, rights and rules of a write apply. */
async function submitData(service: Service, exchange: Exchange, runner: EntryRunner): Promise<Answer> {
  const { body, ctx, params } = exchange
  if (body?.json?.['resourceType'] !== 'Parameters' || body.text === undefined)
    throw new OperationError('body-structure', 'The body must be a Parameters resource.', { expression: ['resourceType'] })
  const submission = await readSubmission(createPace(ctx), body.text)
  const { report } = submission
  if (stringAt(report, 'type') !== 'data-collection')
    throw new OperationError('parameter-invalid', "The measureReport must have the type 'data-collection'.", {
      expression: ['measureReport.type'],
    })
  const measure = await storedInstance(ctx, { type: 'Measure', id: params.get('id') })
  if (measure !== undefined && !isOf(report, measure.resource))
    throw new OperationError(
      'parameter-invalid',
      `The measureReport is of another Measure: ${quoted(stringAt(report, 'measure') ?? '')}.`,
      {
        expression: ['measureReport.measure'],
      },
    )
  const text = `{"resourceType":"Bundle","type":"transaction","entry":[${submission.entries.join(',')}]}`
  return runBundle(service, { ...exchange, body: { ...body, text, json: { resourceType: 'Bundle', type: 'transaction' } } }, runner)
}

function isOf(report: JsonObject, measure: JsonObject): boolean {
  const named = canonicalOf(stringAt(report, 'measure') ?? '')
  const [url, version, id] = ['url', 'version', 'id'].map((name) => stringAt(measure, name))
  if (url === undefined) return named.url === `Measure/${id}`
  return named.url === url && (named.version === undefined || named.version === version)
}

/** Content of a submission. */
interface Submission {
  readonly report: JsonObject
  /** Entries of a transaction as text, in which numbers keep their digits. */
  readonly entries: readonly string[]
}

/** @throws {OperationError} `parameter-required` without a report; `parameter-invalid` for two reports, and for other parameters; `body-structure` */
async function readSubmission(pace: Pace, text: string): Promise<Submission> {
  const list = (await pace.run(jsonMembers(text))).find(({ name }) => name === 'parameter')?.value ?? '[]'
  const items = list.startsWith('[') ? await pace.run(jsonItems(list)) : []
  const reports: JsonObject[] = []
  const entries: string[] = []
  for (const [index, item] of items.entries()) {
    await pace.step()
    const members = item.startsWith('{') ? valuesByName(await pace.run(jsonMembers(item))) : new Map<string, string>()
    const { name, resource, text: own } = readParameter(members, `Parameters.parameter[${index}]`)
    if (name === 'measureReport') reports.push(resource)
    entries.push(entryOf(own, stringAt(resource, 'resourceType') ?? '', stringAt(resource, 'id')))
  }
  const [report] = reports
  if (report !== undefined && reports.length === 1) return { report, entries }
  const code = report === undefined ? 'parameter-required' : 'parameter-invalid'
  throw new OperationError(code, 'Exactly one parameter measureReport is needed.', { expression: ['measureReport'] })
}

const NAMES: ReadonlySet<unknown> = new Set(['measureReport', 'resource'])

interface SubmittedParameter {
  readonly name: string | undefined
  readonly resource: JsonObject
  readonly text: string
}

function readParameter(members: ReadonlyMap<string, string>, place: string): SubmittedParameter {
  const name = stringValue(members, 'name')
  if (!NAMES.has(name))
    throw new OperationError('parameter-invalid', `${place} is neither measureReport nor resource.`, { expression: [place] })
  const text = members.get('resource') ?? 'null'
  const resource: unknown = JSON.parse(text)
  const type = isObject(resource) ? stringAt(resource, 'resourceType') : undefined
  if (!isObject(resource) || type === undefined)
    throw new OperationError('body-structure', `${place}.resource is not a resource.`, { expression: [`${place}.resource`] })
  const { id } = resource
  if (id !== undefined && !(typeof id === 'string' && isResourceId(id)))
    throw new OperationError('body-structure', `${place}.resource has an id that is not one of FHIR.`, {
      expression: [`${place}.resource.id`],
    })
  if (name === 'measureReport' && type !== 'MeasureReport')
    throw new OperationError('parameter-invalid', 'The measureReport must be a MeasureReport.', { expression: [`${place}.resource`] })
  return { name, resource, text }
}

/** A resource with an id is stored under this id, any other under a new one. */
function entryOf(resource: string, type: string, id: string | undefined): string {
  const request = id === undefined ? { method: 'POST', url: type } : { method: 'PUT', url: `${type}/${id}` }
  return `{"resource":${resource},"request":${JSON.stringify(request)}}`
}
