import { createContext } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { memoryStorage } from 'fhir-ops/memory'
import { translate } from 'fhir-ops/translate'
import { r4 } from '@fhir-ops/r4'

const map = {
  resourceType: 'ConceptMap',
  id: 'gender',
  url: 'http://example.org/gender-map',
  status: 'active',
  group: [
    {
      source: 'http://example.org/gender',
      target: 'http://hl7.org/fhir/administrative-gender',
      element: [{ code: 'W', target: [{ code: 'female', equivalence: 'equivalent' }] }],
    },
  ],
}

const ctx = createContext({ storage: memoryStorage([map]), ...r4() })

const { result, matches } = await translate(ctx, {
  url: 'http://example.org/gender-map',
  coding: { system: 'http://example.org/gender', code: 'W' },
})
console.log(
  result,
  matches.map(({ concept }) => concept?.code),
)

const expansion = await expand(ctx, { url: 'http://hl7.org/fhir/ValueSet/administrative-gender', filter: 'fe' })
console.log(
  expansion.total,
  expansion.contains.map(({ code }) => code),
)
