import type { Action } from 'fhir-ops/operation'
import { authorize } from '../auth/caller.js'
import { runBundle } from '../content/bundle/bundle.js'
import type { EntryRunner } from '../content/bundle/bundle-entries.js'
import { takeContent, readResource, readVersion } from '../content/read.js'
import {
  executePlan,
  planConditionalDelete,
  planConditionalUpdate,
  planCreate,
  planDelete,
  planUpdate,
  retryingConflicts,
} from '../content/write.js'
import { planConditionalPatch, planPatch } from '../content/patch/patch.js'
import { type WritePlan, param, type Exchange, type Route } from '../exchange.js'
import { checksCriteria } from '../content/criteria.js'
import { COMPARTMENT_TYPES } from 'fhir-ops/internal/context'
import { historyOfInstance, historyOfSystem, historyOfType } from '../content/history.js'
import { searchCompartment, searchType, searchEverything, searchWholeCompartment } from '../content/search/search.js'
import { subsetAsAsked } from '../content/search/subset.js'
import type { Answer } from '../http/answer.js'
import { FHIR_PATH, type Service } from '../service.js'

const TYPE = `${FHIR_PATH}/:type`
const INSTANCE = `${TYPE}/:id`
const MEMBERS = `${INSTANCE}/:member`
const BUNDLE = { resource: 'Bundle' } as const

/** Routes that read, search and write resources. */
export function contentRoutes(service: Service, runner: EntryRunner): readonly Route[] {
  return [...readRoutes(service), ...historyRoutes(service), ...searchRoutes(service), ...writeRoutes(service), batchRoute(service, runner)]
}

function readRoutes(service: Service): readonly Route[] {
  const row = { ...needing('read'), method: 'GET', body: 'none' } as const
  const version = `${INSTANCE}/_history/:version`
  return [
    { ...row, path: INSTANCE, interaction: 'read', summary: 'A resource', run: (exchange) => readResource(service, exchange) },
    // Last, because the last route takes precedence for its type.
    {
      ...row,
      path: INSTANCE,
      types: ['Binary'],
      negotiates: true,
      answer: 'content',
      summary: 'A Binary, or its content',
      run: (exchange) => readResource(service, exchange),
    },
    { ...row, path: version, interaction: 'vread', summary: 'A version of a resource', run: (exchange) => readVersion(service, exchange) },
  ]
}

function historyRoutes(service: Service): readonly Route[] {
  if (service.ctx.storage.history === undefined) return []
  const row = { method: 'GET', body: 'none', answer: BUNDLE } as const
  return [
    {
      ...row,
      ...needing('read'),
      path: `${INSTANCE}/_history`,
      interaction: 'history-instance',
      summary: 'The versions of a resource',
      run: (exchange) => historyOfInstance(service, exchange),
    },
    {
      ...row,
      ...needing('search'),
      path: `${TYPE}/_history`,
      interaction: 'history-type',
      summary: 'The versions of all resources of the type',
      run: (exchange) => historyOfType(service, exchange),
    },
    {
      ...row,
      access: 'token',
      needs: 's on every type',
      path: `${FHIR_PATH}/_history`,
      interaction: 'history-system',
      summary: 'The versions of all resources',
      run: (exchange) => historyOfSystem(service, exchange),
    },
  ]
}

function searchRoutes(service: Service): readonly Route[] {
  if (service.ctx.search === undefined) return []
  const row = { access: 'token', answer: BUNDLE, needs: 's on the type, and on the types of chained parameters' } as const
  const typed = {
    ...row,
    summary: 'Resources that match all parameters',
    run: (exchange: Exchange) => searchType(service, exchange),
  } as const
  const compartment = {
    ...row,
    types: COMPARTMENT_TYPES,
    summary: 'Resources of a compartment that match all parameters',
    run: (exchange: Exchange) => searchCompartment(service, exchange),
  } as const
  return [
    ...bothWays({ ...typed, path: TYPE, interaction: 'search-type' }),
    ...bothWays({ ...compartment, path: MEMBERS }),
    ...severalRoutes(service),
  ]
}

function severalRoutes(service: Service): readonly Route[] {
  const row = {
    access: 'token',
    answer: BUNDLE,
    needs: 's on every type that is searched, and on the types of chained parameters',
  } as const
  return [
    ...bothWays({
      ...row,
      types: COMPARTMENT_TYPES,
      path: `${INSTANCE}/*`,
      summary: 'Resources of all types, or those of _type, in a compartment',
      run: (exchange) => searchWholeCompartment(service, exchange),
    }),
    ...bothWays({
      ...row,
      path: FHIR_PATH,
      interaction: 'search-system',
      summary: 'Resources of all types, or those of _type, that match all parameters',
      run: (exchange) => searchEverything(service, exchange),
    }),
  ]
}

/** Routes of a search by GET, and by POST with a form. */
function bothWays({ interaction, ...row }: Omit<Route, 'method' | 'body'>): readonly Route[] {
  return [
    { ...row, method: 'GET', body: 'none', ...(interaction !== undefined && { interaction }) },
    { ...row, method: 'POST', path: `${row.path}/_search`, body: 'optional-form' },
  ]
}

function writeRoutes(service: Service): readonly Route[] {
  const row = { body: 'fhir', maxBytes: (type: string) => maxBytesOf(service, type) } as const
  const create = { ...row, ...needing('create'), method: 'POST', path: TYPE } as const
  const update = { ...row, ...needing('update'), method: 'PUT', path: INSTANCE } as const
  const patch = { ...row, ...needing('update'), body: 'patch', method: 'PATCH', path: INSTANCE } as const
  const remove = { ...needing('delete'), body: 'none', method: 'DELETE', path: INSTANCE } as const
  return [
    {
      ...create,
      interaction: 'create',
      summary: 'Stores a resource under a new id',
      ...planned(service, (exchange) => planCreate(service, exchange)),
    },
    {
      ...update,
      interaction: 'update',
      summary: 'Stores a resource under this id',
      ...planned(service, (exchange) => planUpdate(service, exchange)),
    },
    {
      ...patch,
      interaction: 'patch',
      summary: 'Changes parts of a resource, by JSON Patch or FHIRPath Patch',
      ...patching(service, planPatch),
    },
    { ...remove, interaction: 'delete', summary: 'Deletes a resource', ...planned(service, (exchange) => planDelete(service, exchange)) },
    ...binaryRoutes(service, { create, update }),
    ...(service.ctx.search === undefined ? [] : conditionalRoutes(service, { update, patch, remove })),
  ]
}

/** Routes of Binary, which is sent as a resource or as its content. */
function binaryRoutes(service: Service, { create, update }: { readonly create: WriteRow; readonly update: WriteRow }): readonly Route[] {
  const row = { types: ['Binary'], body: 'binary', maxBytes: () => service.limits.binaryBytes } as const
  const taking = (plan: typeof planCreate): Pick<Route, 'plan' | 'run'> =>
    planned(service, async (exchange) => {
      await takeContent(exchange)
      return plan(service, exchange)
    })
  return [
    { ...create, ...row, path: TYPE, summary: 'Stores a Binary, or content as one, under a new id', ...taking(planCreate) },
    { ...update, ...row, path: INSTANCE, summary: 'Stores a Binary, or content as one, under this id', ...taking(planUpdate) },
  ]
}

type WriteRow = Pick<Route, 'access' | 'authorize' | 'needs' | 'method' | 'body' | 'maxBytes'>

interface WriteRows {
  readonly update: WriteRow
  readonly patch: WriteRow
  readonly remove: WriteRow
}

function conditionalRoutes(service: Service, { update, patch, remove }: WriteRows): readonly Route[] {
  const asSearch = ({ needs, ...row }: WriteRow): Omit<Route, 'summary' | 'run'> => ({
    ...row,
    path: TYPE,
    needs: `${needs}, and s as for a search`,
  })
  return [
    {
      ...asSearch(update),
      summary: 'Replaces the resource that matches all parameters, or stores a new one',
      ...planned(service, (exchange) => planConditionalUpdate(service, exchange)),
    },
    {
      ...asSearch(patch),
      summary: 'Changes parts of the resource that matches all parameters',
      ...patching(service, planConditionalPatch),
    },
    {
      ...asSearch(remove),
      summary: 'Deletes the resource that matches all parameters, if there is one',
      ...planned(service, (exchange) => planConditionalDelete(service, exchange)),
    },
  ]
}

/** A write that is planned and then executed. */
function planned(service: Service, change: (exchange: Exchange) => Promise<WritePlan>): Pick<Route, 'plan' | 'run'> {
  const plan = (exchange: Exchange): Promise<WritePlan> => withSubset(exchange, change)
  const run = async (exchange: Exchange): Promise<Answer> => executePlan(service, exchange, await plan(exchange))
  return { plan, run: (exchange) => (isConditional(exchange) ? runConditional(service, exchange, run) : run(exchange)) }
}

/**
 * Runs a write with criteria, again if others have changed what it found. Those with the same criteria run one after the other, as all but one would be
 * repeated; if the storage does not check criteria, all with criteria of the type do, so that each sees what the previous ones have written.
 */
function runConditional(service: Service, exchange: Exchange, run: (exchange: Exchange) => Promise<Answer>): Promise<Answer> {
  const { request, ctx } = exchange
  const type = param(exchange, 'type')
  const criteria = request.method === 'POST' ? request.header('if-none-exist') : request.target
  const key = checksCriteria(exchange) ? `${type} ${criteria}` : type
  return service.writeLock([key], () => service.conditionalWrites.run(() => retryingConflicts(() => run(exchange)), ctx))
}

/** A patch applies to the version that it finds, so patches of one resource, or by criteria on one type, run one after the other. */
function patching(service: Service, change: (service: Service, exchange: Exchange) => Promise<WritePlan>): Pick<Route, 'plan' | 'run'> {
  const plan = (exchange: Exchange): Promise<WritePlan> => withSubset(exchange, () => change(service, exchange))
  const run = (exchange: Exchange): Promise<Answer> => retryingConflicts(async () => executePlan(service, exchange, await plan(exchange)))
  const keyOf = ({ params }: Exchange): string => [params.get('type'), params.get('id')].filter((part) => part !== undefined).join('/')
  return { plan, run: (exchange) => service.writeLock([keyOf(exchange)], () => run(exchange)) }
}

/** Plans a write whose answer is as much of the resource as `_summary` or `_elements` asks; wrong values are refused before anything is written. */
async function withSubset(exchange: Exchange, plan: (exchange: Exchange) => Promise<WritePlan>): Promise<WritePlan> {
  const made = await plan(exchange)
  return { ...made, subset: await subsetAsAsked(exchange, { type: param(exchange, 'type'), query: exchange.target.query }) }
}

function isConditional({ request, params }: Exchange): boolean {
  return request.method === 'POST' ? request.header('if-none-exist') !== undefined : !params.has('id')
}

function batchRoute(service: Service, runner: EntryRunner): Route {
  return {
    access: 'token',
    method: 'POST',
    path: FHIR_PATH,
    body: 'fhir',
    answer: BUNDLE,
    needs: 'what each entry needs',
    interaction: 'batch',
    summary: 'A batch or transaction of other requests',
    run: (exchange) => runBundle(service, exchange, runner),
  }
}

function needing(action: Action): Pick<Route, 'access' | 'needs' | 'authorize'> {
  return {
    access: 'token',
    needs: `${action.charAt(0)} on the type`,
    authorize: (exchange: Exchange) => authorize(exchange.caller, { action, type: param(exchange, 'type'), id: exchange.params.get('id') }),
  }
}

const TERMINOLOGY: ReadonlySet<string> = new Set(['CodeSystem', 'ConceptMap', 'ValueSet'])

/** Terminology is stored in one piece, however large, so it has its own limit. */
function maxBytesOf({ limits }: Service, type: string): number {
  return TERMINOLOGY.has(type) ? limits.terminologyBytes : limits.bodyBytes
}
