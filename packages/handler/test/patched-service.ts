import { createContext, type ContextOptions } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import type { Storage } from 'fhir-ops/storage'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { at, send, startServer, USER, type Reply, type RunningServer } from './running-server.js'

const parameters = searchParameters(r4SearchParameters(), r4TypeModel())

export const JSON_PATCH = 'application/json-patch+json'

/** The resource that is patched, as it is stored before each test. */
export const PATIENT: string = JSON.stringify({
  resourceType: 'Patient',
  id: 'one',
  identifier: [{ value: 'x' }],
  active: true,
  name: [{ family: 'Lovell', given: ['Ada', 'Jo'] }, { family: 'Old' }],
  birthDate: '1980-12-10',
})

interface Asked {
  readonly text?: string
  readonly type?: string
  readonly headers?: Record<string, string>
  readonly token?: string
}

/** A server with `Patient/one`, and what is asked of it. */
export interface PatchedService extends AsyncDisposable {
  readonly ask: (method: string, path: string, asked?: Asked) => Promise<Reply>
  /** Sends a patch of `Patient/one`, by default a JSON Patch. */
  readonly patch: (operations: unknown, more?: Asked) => Promise<Reply>
  readonly tokenFor: (...scopes: string[]) => Promise<string>
}

/** How the service is made. */
export interface Setup {
  /** Called before each write of the storage. */
  readonly beforeWrite?: (storage: Storage) => Promise<void>
  /** What the context has beside its storage; by default how resources are found, and no types to check them by. */
  readonly context?: Omit<ContextOptions, 'storage'>
}

/** Starts a server that knows `Patient/one`. */
export async function patchedService({ beforeWrite, context = { search: { parameters } } }: Setup = {}): Promise<PatchedService> {
  const kept = memoryStorage()
  let isStored = false
  const storage: Storage = {
    ...kept,
    async write(entries) {
      if (isStored) await beforeWrite?.(kept)
      return kept.write(entries)
    },
  }
  const running: RunningServer = await startServer({ storage, context: createContext({ ...context, storage }) })
  const ask: PatchedService['ask'] = (method, path, { text, type = JSON_PATCH, headers, token = running.token } = {}) => {
    const all = { authorization: `Bearer ${token}`, 'content-type': type, ...headers }
    return send(`${running.base}/fhir/R4${path}`, { method, headers: all, ...(text !== undefined && { body: text }) })
  }
  const { status, text } = await ask('PUT', '/Patient/one', { text: PATIENT, type: 'application/fhir+json' })
  if (status !== 201) throw new Error(`Patient/one was not stored: ${text}`)
  isStored = true
  return {
    ask,
    patch: (operations, more = {}) => ask('PATCH', '/Patient/one', { text: JSON.stringify(operations), ...more }),
    tokenFor: async (...scopes) => (await running.sessions.create({ user: USER, scopes })).token,
    [Symbol.asyncDispose]: () => running.stop(),
  }
}

/** Status and issue code of a refusal. */
export const refusal = ({ status, json }: Reply): unknown => [status, at(json, 'issue', 0, 'code')]
