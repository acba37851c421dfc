import { createContext, type OperationContext } from 'fhir-ops/context'
import { createScheduler } from 'fhir-ops/internal/context'
import { memoryStorage } from 'fhir-ops/memory'
import { putResource, scanResources, type Storage } from 'fhir-ops/storage'
import { r4 } from '@fhir-ops/r4'
import { expect, it, vi } from 'vitest'
import { callerOf, parseScope } from '../auth/caller.js'
import { narrowedStorage } from './narrowed-storage.js'

const release = r4()

async function narrowedToMe(ctx: OperationContext): Promise<Storage> {
  const principal = { sub: 'ann', loginId: 'l', scopes: ['patient/*.rs'], claims: {}, expiresAt: 0, patient: 'me' }
  const caller = await callerOf(
    principal,
    { defaultPolicy: 'deny' },
    { parse: parseScope, ctx, base: 'http://x/fhir/R4', maxParameters: 10 },
  )
  return narrowedStorage(ctx, caller, release.indexer)
}

it('of a history, those versions are seen whose content is granted, and no deletion', async () => {
  const storage = memoryStorage()
  const ctx = createContext({ storage, ...release })
  const about = async (patient: string): Promise<void> => {
    const source = { resourceType: 'Observation', subject: { reference: `Patient/${patient}` } }
    await storage.write([putResource({ type: 'Observation', id: 'o', source }, release.indexer)])
  }
  await about('other')
  await about('me')
  await about('other')
  await storage.write([{ op: 'delete', type: 'Observation', id: 'o' }])
  const { history } = await narrowedToMe(ctx)
  const page = await history?.page({ types: ['Observation'] })
  expect(page?.items.map(({ versionId }) => versionId)).toEqual(['2'])
  const seen = await Promise.all(['1', '2', '3', '4'].map(async (version) => history?.version('Observation', 'o', version)))
  expect(seen.map((version) => version !== undefined)).toEqual([false, true, false, false])
})

it('others have their turn while the versions of a long history are looked at', async () => {
  const storage = memoryStorage()
  const source = { resourceType: 'Observation', subject: { reference: 'Patient/other' } }
  await storage.write(['a', 'b', 'c'].map((id) => putResource({ type: 'Observation', id, source }, release.indexer)))
  const turn = vi.fn(async () => {})
  const { history } = await narrowedToMe({ ...createContext({ storage, ...release }), scheduler: { ...createScheduler(), turn } })
  let time = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 10))
  const page = await history?.page({ types: ['Observation'] })
  clock.mockRestore()
  expect(page?.items).toEqual([])
  expect(turn).toHaveBeenCalledTimes(3)
})

it('a scan has what is granted, of the matches and of what refers to them', async () => {
  const storage = memoryStorage()
  const about = (type: string, id: string, patient: string) =>
    putResource({ type, id, source: { resourceType: type, subject: { reference: `Patient/${patient}` } } }, release.indexer)
  const patients = ['me', 'other'].map((id) => putResource({ type: 'Patient', id, source: { resourceType: 'Patient' } }, release.indexer))
  await storage.write([...patients, about('Observation', 'o1', 'me'), about('Observation', 'o2', 'other')])
  const narrowed = await narrowedToMe(createContext({ storage, ...release }))
  const where = { kind: 'and', conditions: [] } as const
  const found: string[] = []
  const population = { type: 'Patient', where, referring: [{ type: 'Observation', where, params: ['subject'] }] }
  for await (const { stored, referring } of scanResources(narrowed, population)) found.push(stored.id, ...referring.map(({ id }) => id))
  expect(found).toEqual(['me', 'o1'])
  const turned = { type: 'Observation', where, referring: [{ type: 'Patient', where, params: ['link'] }] }
  expect((await narrowed.scan?.(turned))?.items.map(({ stored }) => stored.id)).toEqual(['o1'])
})
