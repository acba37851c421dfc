import type { FhirResource, Group, Patient } from 'fhir/r4.js'
import { expectTypeOf, test } from 'vitest'
import type { JsonObject } from '../json/index.js'
import type { Storage, StoredResource } from './index.js'

declare const storage: Storage

test('a resource that is read has the type of FHIR that is asked for', async () => {
  const patient = await storage.read('Patient', 'p')
  expectTypeOf(patient?.resource).toExtend<Patient | undefined>()
  expectTypeOf(patient?.resource.birthDate).toEqualTypeOf<string | undefined>()
  expectTypeOf(patient?.resource).not.toExtend<Group | undefined>()
})

test('one of several types is one of them', async () => {
  const type: 'Group' | 'Patient' = Math.random() < 0.5 ? 'Group' : 'Patient'
  const read = await storage.read<'Group' | 'Patient'>(type, 'x')
  expectTypeOf(read?.resource).toExtend<Group | Patient | undefined>()
})

test('what FHIR does not name is a JSON object, and so is what is read under a text', async () => {
  const type: string = 'Patient'
  expectTypeOf(await storage.read(type, 'p')).toEqualTypeOf<StoredResource | undefined>()
  const bot = await storage.read('Bot', 'b')
  expectTypeOf(bot?.resource).toExtend<JsonObject | undefined>()
  expectTypeOf(bot?.resource).not.toExtend<FhirResource | undefined>()
})
