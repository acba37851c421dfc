import { cqlLanguage } from '@fhir-ops/cql'
import { createTranslator } from '@fhir-ops/cql/translator'
import { r4 } from '@fhir-ops/r4'
import fc from 'fast-check'
import { describe } from 'vitest'
import { CASES, expectSubjects, hospitalOver, measureOf } from '../../../cql/test/subjects.fixture.js'
import { holdsOverStorages } from './over-storages.js'

describe.each(CASES)('a measure of subjects of type %s finds what belongs to them', (type, who) => {
  holdsOverStorages({
    values: fc.constant(measureOf(type, Object.keys(who))),
    check: async (storage, resources) => {
      const translator = await createTranslator({ model: r4().types })
      await expectSubjects(await hospitalOver(storage, resources), { type, who }, [cqlLanguage({ translator })])
    },
    runs: { memory: 1, sqlite: 1, postgres: 1 },
  })
})
